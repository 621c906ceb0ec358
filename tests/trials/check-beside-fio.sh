#!/usr/bin/env bash
# What `narrows check` says of a directory beside what fio says, run by hand with its best settings: alternating, each on a file
# of its own that was written just before, of the same size. On a virtual disk a file that has been overwritten for a while is
# faster than one just written (its blocks lie in the host's memory), so that an old file of fio's would compare two files.
# Not part of .ci/run: it takes 85 s a round and wants a machine that does nothing else. docs/history/performance.md has a result.
#
#     NARROWS=target/release/narrows tests/trials/check-beside-fio.sh DIRECTORY [ROUNDS]
#
# Needs fio, python3 and twice the size of the layout (4 GiB on a fast disk) of free space.
set -euo pipefail

narrows=${NARROWS:?the path of the binary}
directory=${1:?a directory of the disk}
rounds=${2:-3}
scratch=$(mktemp -d "$directory/narrows.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# fio PHASE RW BS DEPTH [OPTION...]
by_fio() {
    fio --name="$1" --ioengine=io_uring --filename="$scratch/file" --size=4g --direct=1 --rw="$2" --bs="$3" --iodepth="$4" \
        --registerfiles=1 "${@:5}" --runtime=4 --time_based=1 --output-format=json --output="$scratch/fio.$1.$round"
}

for ((round = 0; round < rounds; round++)); do
    dd if=/dev/urandom of="$scratch/file" bs=1M count=4096 oflag=direct status=none
    by_fio seq-write write 1m 8
    by_fio seq-read read 1m 8
    by_fio rand-read-qd1 randread 4k 1 --fixedbufs=1
    by_fio rand-read-qd32 randread 4k 32 --fixedbufs=1
    by_fio rand-write-qd1 randwrite 4k 1 --fixedbufs=1
    by_fio rand-write-qd32 randwrite 4k 32 --fixedbufs=1
    rm "$scratch/file"
    "$narrows" check "$scratch" --json --archive "$scratch/archive" >"$scratch/check.$round" 2>/dev/null || [[ $? -eq 4 ]]
done
python3 - "$scratch" "$rounds" <<'PYTHON'
import json, statistics, sys

scratch, rounds = sys.argv[1], int(sys.argv[2])
for phase in ["seq-read", "seq-write", "rand-read-qd1", "rand-read-qd32", "rand-write-qd1", "rand-write-qd32"]:
    ours, theirs = [], []
    for n in range(rounds):
        metrics = {m["id"]: m for m in json.load(open(f"{scratch}/check.{n}"))["metrics"]}
        metric = metrics.get(phase + ".iops")
        value = metric and (metric["value"] or metric.get("rejected_value"))
        direction = "read" if "read" in phase else "write"
        fio = json.load(open(f"{scratch}/fio.{phase}.{n}"))["jobs"][0][direction]["iops"]
        if value:
            ours.append(value)
            theirs.append(fio)
    if not ours:
        print(f"{phase}: check did not measure it")
        continue
    ratios = [a / b for a, b in zip(ours, theirs)]
    print(
        f"{phase}: {statistics.median(ours):.0f} IOPS, fio {statistics.median(theirs):.0f}; "
        f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )
PYTHON
