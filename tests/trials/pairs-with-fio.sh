#!/usr/bin/env bash
# The same fio job file carried out by fio and by `narrows run`, in alternating pairs, on a loop device that the kernel caps
# (control groups of version 1, blkio), so that the storage gives both the same. Prints for IOPS, p50 and p99 what each
# measured, their ratio with its 95 % interval over the pairs, the sign test, and how much fio differs from itself.
# Not part of .ci/run: it takes six minutes and wants a machine that does nothing else. docs/history/performance.md has a result.
#
#     NARROWS=target/debug/narrows tests/trials/pairs-with-fio.sh [PAIRS]
#
# Needs root, a free loop device, blkio of version 1, fio and python3. Ends with 1 where a difference is beyond the noise.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"

narrows=${NARROWS:?the path of the binary}
pairs=${1:-10}
scratch=$(mktemp -d /dev/shm/narrows.XXXXXX)
device=
group=

clean_up() {
    if [[ -n $group && -d $group ]]; then rmdir "$group" || true; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts)
[[ -n $blkio ]] || { echo "no blkio control groups of version 1 are mounted" >&2; exit 2; }
head -c 256M /dev/urandom >"$scratch/image"
device=$(losetup --find --show --direct-io=on "$scratch/image")
group=$blkio/narrows-pairs-$$
mkdir "$group"
number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')

capped() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

# fio OUTPUT / narrows OUTPUT
# The job says io_uring, which both then use: a capped libaio waits in the submitting call, io_uring in a worker of the kernel.
by_fio() { capped fio --output-format=json --output="$1" "$scratch/job.fio"; }
# A machine with other work makes numbers refused; they are compared all the same.
by_narrows() { capped "$narrows" run "$scratch/job.fio" --json --archive "$scratch/archive" >"$1" 2>/dev/null || [[ $? -eq 4 ]]; }

status=0
# trial NAME LIMIT VALUE JOB...
trial() {
    local name=$1 limit=$2 value=$3 pair
    shift 3
    printf '%s %s\n' "$number" "$value" >"$group/blkio.throttle.$limit"
    printf '[job]\nfilename=%s\ndirect=1\nioengine=io_uring\ntime_based=1\nramp_time=1\nruntime=6\nlat_percentiles=1\n' "$device" >"$scratch/job.fio"
    printf '%s\n' "$@" >>"$scratch/job.fio"
    for ((pair = 0; pair < pairs; pair++)); do
        if ((pair % 2 == 0)); then
            by_fio "$scratch/fio.$pair"
            by_narrows "$scratch/narrows.$pair"
        else
            by_narrows "$scratch/narrows.$pair"
            by_fio "$scratch/fio.$pair"
        fi
    done
    printf '%s 0\n' "$number" >"$group/blkio.throttle.$limit"
    printf '\n%s: %s, cap %s, %s pairs\n' "$name" "$*" "$value" "$pairs"
    python3 - "$scratch" "$pairs" <<'PYTHON' || status=1
import json, math, statistics, sys

scratch, pairs = sys.argv[1], int(sys.argv[2])
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 14: 2.145, 19: 2.093}
# fio keeps latencies in buckets of 1/64 of an octave: no closer than that can they be told.
BUCKET = 1 / 64


def of_fio(n):
    read = json.load(open(f"{scratch}/fio.{n}"))["jobs"][0]["read"]
    # From the submission on, as narrows counts it: fio's completion latency begins when the submitting call has returned.
    latency = read["lat_ns"]["percentile"]
    return {"IOPS": read["iops"], "p50": latency["50.000000"], "p99": latency["99.000000"]}


def of_narrows(n):
    document = json.load(open(f"{scratch}/narrows.{n}"))
    metrics = {m["id"].rsplit(".", 1)[1]: m for p in document["phases"] for m in p["metrics"]}
    value = lambda q: metrics[q]["rejected_value"] if metrics[q]["value"] is None else metrics[q]["value"]
    of_phase = {"IOPS": value("iops"), "p50": value("latency_ns_p50"), "p99": value("latency_ns_p99")}
    if None in of_phase.values():
        sys.exit(f"narrows has no figure: {of_phase}")
    return of_phase


fio, narrows = [of_fio(n) for n in range(pairs)], [of_narrows(n) for n in range(pairs)]
print(f"{'':6}{'fio':>14}{'narrows':>14}{'ratio':>9}   {'95 % interval':18}{'sign test':>10}   {'fio, spread':12}")
worst = 0
for key in ("IOPS", "p50", "p99"):
    logs = [math.log(b[key] / a[key]) for a, b in zip(fio, narrows)]
    mean = statistics.fmean(logs)
    t = T.get(pairs - 1, 1.96)
    half = t * statistics.stdev(logs) / math.sqrt(pairs)
    more = sum(1 for d in logs if d > 0)
    less = sum(1 for d in logs if d < 0)
    n, k = more + less, min(more, less)
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)
    own = statistics.stdev([math.log(a[key]) for a in fio])
    # No more than the noise: the interval holds 1 or the sign test sees nothing (one run that something else disturbed
    # moves the one, not the other), or the difference is below what fio differs by from itself or its buckets tell apart.
    # And the cap gives a tenth of a second's worth at once: one of these more or less falls into the 6 s that count.
    resolution = BUCKET if key != "IOPS" else 0.1 / 6
    same = abs(mean) <= half or p > 0.05 or abs(mean) <= max(2 * own, resolution)
    worst |= not same
    median = lambda runs: statistics.median(r[key] for r in runs)
    print(f"{key:6}{median(fio):14.1f}{median(narrows):14.1f}{math.exp(mean):9.4f}   "
          f"{math.exp(mean - half):.4f} .. {math.exp(mean + half):.4f}{p:10.3f}   {own * 100:8.2f} %"
          + ("" if same else "   BEYOND THE NOISE"))
sys.exit(worst)
PYTHON
}

trial "random reads one at a time" read_iops_device 400 rw=randread bs=4k iodepth=1
# The cap lets through a tenth of a second's worth at once. So the depth must be above that (100; the device itself takes 128),
# or half of the operations are of a burst that the processor serves, and their latency is that of the program: at depth 32
# and 1500 a second fio's p50 was 1.8 times ours.
trial "random reads, depth 128" read_iops_device 1000 rw=randread bs=4k iodepth=128
trial "reads of 128 KiB" read_bps_device 30000000 rw=read bs=128k iodepth=4
exit "$status"
