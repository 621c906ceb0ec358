#!/usr/bin/env bash
# Alone: it measures a known rate.
# `narrows run` where the truth is known: a loop device that the kernel caps by a control group (version 1, blkio) at so many
# bytes or operations a second. fio has to confirm the cap first; then `narrows run` of the same job has to come within 2 %.
# Needs root, a free loop device, blkio of version 1 and fio; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(in_memory 400000000)
device=
group=

clean_up() {
    if [[ -n $group && -d $group ]]; then rmdir "$group" || true; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

needs fio
command -v python3 >/dev/null || cannot "there is no python3, which reads the documents"
blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts)
[[ -n $blkio && -e $blkio/blkio.throttle.read_iops_device ]] || cannot "no blkio control groups of version 1 are mounted"
head -c 256M /dev/urandom >"$scratch/image"
device=$(losetup --find --show --direct-io=on "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
group=$blkio/narrows-run-$$
mkdir "$group" 2>"$scratch/err" || { group=; cannot "no control group can be made: $(head -1 "$scratch/err")"; }
number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')

# capped PROGRAM ARGUMENT...: runs under the cap.
capped() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

# within MEASURED TRUTH PERCENT: whether they are not further apart.
within() { python3 -c 'import sys; m, t, p = map(float, sys.argv[1:]); sys.exit(abs(m / t - 1) * 100 > p)' "$@"; }

# trial NAME LIMIT VALUE QUANTITY JOB...: with the limit set, fio and narrows say what QUANTITY (iops or bytes) a second is.
trial() {
    local name=$1 limit=$2 value=$3 quantity=$4 by_fio by_narrows status=0
    shift 4
    printf '%s %s\n' "$number" "$value" >"$group/blkio.throttle.$limit"
    printf '[global]\nfilename=%s\ndirect=1\nioengine=libaio\ntime_based=1\nramp_time=1\nruntime=10\n[job]\n' "$device" >"$scratch/job.fio"
    printf '%s\n' "$@" >>"$scratch/job.fio"
    capped fio --output-format=json "$scratch/job.fio" >"$scratch/out" 2>"$scratch/err" || fail "fio ended with $?"
    by_fio=$(python3 -c '
import json, sys
job = json.load(open(sys.argv[1]))["jobs"][0]["read"]
print(job["iops"] if sys.argv[2] == "iops" else job["bw_bytes"])' "$scratch/out" "$quantity") ||
        fail "$name: fio's document cannot be read"
    if ! within "$by_fio" "$value" 2; then
        printf 'SKIPPED: %s: the cap of %s is %s to fio here\n' "$name" "$value" "$by_fio"
        printf '%s 0\n' "$number" >"$group/blkio.throttle.$limit"
        return 0
    fi
    capped "$narrows" run "$scratch/job.fio" --json --archive "$scratch/archive" >"$scratch/out" 2>"$scratch/err" || status=$?
    # A busy machine makes numbers refused, which is right; they have to be the true ones all the same.
    [[ $status -eq 0 || $status -eq 4 ]] || fail "$name: narrows ended with $status"
    by_narrows=$(python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
quantity = {"iops": "iops", "bytes": "throughput_bytes_per_s"}[sys.argv[2]]
metric = next(m for p in document["phases"] for m in p["metrics"] if m["id"].endswith("." + quantity))
print(metric["rejected_value"] if metric["value"] is None else metric["value"])
print("; ".join(r["text"] for r in metric["reasons"]), file=sys.stderr)' "$scratch/out" "$quantity" 2>"$scratch/reasons") ||
        fail "$name: narrows' document cannot be read: $(tail -1 "$scratch/reasons")"
    printf '%-28s cap %10s   fio %13.1f   narrows %13.1f %s\n' "$name" "$value" "$by_fio" "$by_narrows" \
        "$(tr -d '\n' <"$scratch/reasons")"
    printf '%s 0\n' "$number" >"$group/blkio.throttle.$limit"
    within "$by_narrows" "$value" 2 || fail "$name: not as the cap"
    touch "$scratch/measured"
}

thrice trial "random read, 400 a second" read_iops_device 400 iops rw=randread bs=4k iodepth=1
thrice trial "the same, depth 32" read_iops_device 1500 iops rw=randread bs=4k iodepth=32
thrice trial "read, 30 MB/s" read_bps_device 30000000 bytes rw=read bs=128k iodepth=4
[[ -e $scratch/measured ]] || cannot "fio does not see the caps of this kernel"
