#!/usr/bin/env bash
# Alone: it measures a known rate.
# What `narrows watch` says of a loop device under fio, beside what iostat says of the same time and what the kernel
# counted. NARROWS is the binary. Needs root, iostat (sysstat), fio and python3; makes its own loop device.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=
cleanup() {
    if [[ -n $device ]]; then losetup -d "$device" || true; fi
    rm -rf "$scratch"
}
trap cleanup EXIT

[[ $(id -u) -eq 0 ]] || cannot "only root may make a loop device"
for program in iostat fio losetup python3; do
    command -v "$program" >/dev/null || cannot "there is no $program (Debian: sysstat, fio, mount, python3)"
done
truncate -s 64M "$scratch/file"
device=$(losetup -f --show "$scratch/file" 2>"$scratch/log") || cannot "no loop device: $(tail -n 1 "$scratch/log")"
name=${device#/dev/}

# The load lies wholly inside of what both watch, so that sums over the intervals must agree.
seconds=8
cat "/sys/block/$name/stat" >"$scratch/before"
S_TIME_FORMAT=ISO iostat -x -y -o JSON "$device" 1 $seconds >"$scratch/iostat.json" &
iostat=$!
"$narrows" watch "$device" --json --interval 1s --count $((seconds + 1)) >"$scratch/narrows.jsonl" &
watch=$!
sleep 1.5
fio --name=load --filename="$device" --rw=randrw --rwmixread=70 --bs=4k --iodepth=8 --ioengine=libaio --direct=1 \
    --rate_iops=400,400 --time_based --runtime=3 --size=64M --output="$scratch/fio.log"
wait "$iostat" "$watch"
cat "/sys/block/$name/stat" >"$scratch/after"
# Since boot, on a device that rests: the same counters for both.
S_TIME_FORMAT=ISO iostat -x -o JSON "$device" 1 1 >"$scratch/boot.json"
"$narrows" watch "$device" --csv=iostat --count 1 >"$scratch/boot.csv"

python3 - "$scratch" "$name" <<'PYTHON'
import csv, json, sys

scratch, name = sys.argv[1:]
bad = []

def say(what, ours, theirs, tolerance):
    ok = abs(ours - theirs) <= tolerance
    print(f"  {what:24} narrows {ours:14.3f}   {theirs:14.3f}   {'' if ok else 'DIFFERS'}")
    if not ok:
        bad.append(what)

before, after = ([int(n) for n in open(f"{scratch}/{w}").read().split()] for w in ("before", "after"))
counted = [a - b for a, b in zip(after, before)]
ticks = [json.loads(line) for line in open(f"{scratch}/narrows.jsonl")][1:]
ours = lambda key: sum(t["layers"][0][key] * t["interval_s"] for t in ticks)

print("against the kernel's counters")
say("reads", ours("reads_per_s"), counted[0], 0.01)
say("bytes read", ours("read_bytes_per_s"), counted[2] * 512, 1)
say("writes", ours("writes_per_s"), counted[4], 0.01)
say("bytes written", ours("write_bytes_per_s"), counted[6] * 512, 1)
say("busy ms", ours("util_percent") * 10, counted[9], 5)
say("ms in flight", ours("queue") * 1000, counted[10], 1)
say("reads x await ms", sum(t["layers"][0]["reads_per_s"] * t["interval_s"] * (t["layers"][0]["read_await_ns"] or 0)
    for t in ticks) / 1e6, counted[3], 1)

print("against iostat, which takes its intervals from a clock of 10 ms and rounds to two digits")
rows = json.load(open(f"{scratch}/iostat.json"))["sysstat"]["hosts"][0]["statistics"]
theirs = lambda key: sum(r["disk"][0][key] for r in rows)
for key, other in [("reads_per_s", "r/s"), ("writes_per_s", "w/s")]:
    say(other, ours(key), theirs(other), 0.02 * theirs(other) + 0.1)
for key, other in [("read_bytes_per_s", "rkB/s"), ("write_bytes_per_s", "wkB/s")]:
    say(other, ours(key) / 1024, theirs(other), 0.02 * theirs(other) + 0.1)
say("aqu-sz", ours("queue"), theirs("aqu-sz"), 0.03 * theirs("aqu-sz") + 0.06)
say("%util", ours("util_percent"), theirs("util"), 0.03 * theirs("util") + 1)

print("since boot, at rest")
theirs = json.load(open(f"{scratch}/boot.json"))["sysstat"]["hosts"][0]["statistics"][0]["disk"][0]
ours = next(csv.DictReader(open(f"{scratch}/boot.csv")))
assert ours["Device"] == name == theirs["disk_device"], (ours, theirs)
# Quotients of counters: nothing but the last digit may differ.
for key, other in [("r_await",) * 2, ("w_await",) * 2, ("rareq-sz",) * 2, ("wareq-sz",) * 2, ("%rrqm", "rrqm"),
                   ("%wrqm", "wrqm")]:
    say(key, float(ours[key]), theirs[other], 0.011)
# Rates: the time since boot went on between the two.
for key, other in [("r/s",) * 2, ("w/s",) * 2, ("rkB/s",) * 2, ("wkB/s",) * 2, ("aqu-sz",) * 2, ("%util", "util")]:
    say(key, float(ours[key]), theirs[other], 0.011 + 0.005 * theirs[other])
if bad:
    sys.exit(f"FAILED: {', '.join(bad)}")
PYTHON
