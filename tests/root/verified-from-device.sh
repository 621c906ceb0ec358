#!/usr/bin/env bash
# Verified data must have come from the device. A loop device is written through the page cache and verified; then the file
# behind it is zeroed past the loop's cache, which still holds what was written, and the data are verified again: they are
# gone, and a cache must not hide it. Needs root, free loop devices, python3 and a file system with
# O_DIRECT; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=

clean_up() {
    if [[ -n $device ]]; then losetup --detach "$device" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

needs python3
export NARROWS_ARCHIVE=$scratch/archive
dd if=/dev/urandom of="$scratch/image" bs=1M count=16 conv=fsync status=none
dd if="$scratch/image" of=/dev/null bs=1M count=1 iflag=direct status=none 2>"$scratch/err" ||
    cannot "no O_DIRECT in $scratch: $(head -1 "$scratch/err")"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"

cat >"$scratch/twice.toml" <<'TEXT'
name = "twice"
[[phase]]
name = "write"
operation = "write"
region = "4MiB"
block-size = "64KiB"
verify = "stamp"
[[phase]]
name = "read"
operation = "read"
region = "4MiB"
block-size = "64KiB"
start-delay = "6s"
verify = "stamp"
TEXT

# run: what it says in JSON.
run() {
    "$narrows" run "$scratch/twice.toml" "$device" --destroy "$(basename "$device")" --json \
        >"$scratch/out" 2>"$scratch/err" || true
}

# of PHASE EXPRESSION: of the phase's `verify`, as v.
of() {
    python3 -c 'import json, sys
phases = {p["name"]: p["verify"] for p in json.load(open(sys.argv[1]))["phases"]}
v = phases[sys.argv[2]]
print(eval(sys.argv[3]))' "$scratch/out" "$1" "$2"
}

echo "a loop device that keeps what it is given"
run
[[ $(of write 'v["read_from"]["state"], sum(v["mismatches"].values())') == "('device', 0)" ]] || fail "the write is not verified"
[[ $(of read 'v["read_from"]["state"], sum(v["mismatches"].values())') == "('device', 0)" ]] || fail "the read is not verified"

echo "the data are lost below the page cache"
run &
job=$!
# When the write, after which nothing has to be prefilled, is in the bundle, the last phase waits for its start.
done_phases() { cat "$scratch"/archive/runs/.*.partial/run.json 2>/dev/null | grep -c '"stop": "region-done"' || true; }
for _ in $(seq 300); do
    if [[ $(done_phases) -ge 1 ]]; then break; fi
    sleep 0.1
done
sleep 1
dd if=/dev/zero of="$scratch/image" bs=64k count=64 oflag=direct conv=notrunc,fsync status=none
wait "$job"
[[ $(of read 'sum(v["mismatches"].values()) > 0') == True ]] || fail "zeroed blocks were not found"
echo "done"
