#!/usr/bin/env bash
# Alone: it measures a known rate.
# `narrows run --group` where the truth is known: four ranks, as four plain shells, on one directory of a loop device that the kernel
# caps by a control group (version 1, blkio). Their sum is the cap within 3 %, they are active together for 95 % of the time at least,
# and begin within 50 ms. One that is stopped for a while makes the phase not-together; one that is killed ends the others within 10 s,
# and they say which it was. In one file for all (--shared-file) the sum is the cap, too, each rank finds its own data, and nothing is
# left; where the disk of one is full, the others say so. The sum is the same by deploy/shells.sh, and by deploy/mpirun.sh and deploy/slurm.sbatch where Open MPI and
# Slurm are installed.
# Needs root, a free loop device and blkio of version 1; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(in_memory 700000000)
device=
group=
skipped=
daemons=()

clean_up() {
    ((${#daemons[@]} == 0)) || kill "${daemons[@]}" 2>/dev/null || true
    ((${#daemons[@]} == 0)) || wait "${daemons[@]}" 2>/dev/null || true
    if [[ -n $group && -d $group ]]; then rmdir "$group" 2>/dev/null || true; fi
    umount "$scratch/small" 2>/dev/null || true
    umount "$scratch/mount" 2>/dev/null || true
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

command -v python3 >/dev/null || cannot "there is no python3, which reads the documents"
blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts)
[[ -n $blkio && -e $blkio/blkio.throttle.read_iops_device ]] || cannot "no blkio control groups of version 1 are mounted"
truncate -s 600M "$scratch/image"
mkfs.ext4 -q -F "$scratch/image"
device=$(losetup --find --show --direct-io=on "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
mkdir "$scratch/mount"
mount "$device" "$scratch/mount"
group=$blkio/narrows-group-$$
mkdir "$group" 2>"$scratch/err" || { group=; cannot "no control group can be made: $(head -1 "$scratch/err")"; }
number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
cap=2000
printf '%s %s\n' "$number" "$cap" >"$group/blkio.throttle.read_iops_device"

cat >"$scratch/reads.toml" <<'TEXT'
name = "reads"
title = "random reads of several clients"
answers = "How many reads does the store answer to all of them together?"

[defaults]
operation = "read"
order = "random"
access = "direct"
block-size = "4KiB"
region = "16MiB"
time = "6s"
ramp = "500ms"

[[phase]]
name = "reads"
depth = 8
TEXT
export NARROWS_GROUP_TOKEN=a-token-of-this-test

# capped COMMAND ARGUMENT...: runs under the cap.
capped() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

# rank NUMBER ARGUMENT...: one of four, in the background. Its archive is its own.
pids=()
rank() {
    local number=$1
    shift
    # Not by `capped`, so that the number is that of the process itself.
    bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
        "$narrows" run "$scratch/reads.toml" "$scratch/mount" --group --rank "$number/4" --meet "127.0.0.1:$port" --json \
        --archive "$scratch/archive$number" "$@" >"$scratch/out$number" 2>"$scratch/err$number" &
    pids[number]=$!
}

# four PORT ARGUMENT...: all four, begun.
four() {
    port=$1
    shift
    rm -rf "$scratch"/archive*
    for number in 0 1 2 3; do rank "$number" "$@"; done
}

# ended NUMBER: its exit code, in $status.
ended() {
    status=0
    wait "${pids[$1]}" || status=$?
}

# until_it_reads: waits until rank 0 keeps its run, and as long again as the layout and the quiet windows take.
until_it_reads() {
    until_so 20 compgen -G "$scratch/archive0/runs/.*.partial" >/dev/null || fail "it did not begin: $(tail -2 "$scratch/err0")"
    sleep 2.5
}

# summed FILE PERCENT: the sum is the cap, by rank 0's document; what it says of the group is printed.
summed() {
    python3 - "$1" "$cap" "$2" <<'PYTHON' || fail "the sum is not the cap: $(cat "$scratch"/err0)"
import json, sys
document, cap, percent = json.load(open(sys.argv[1])), float(sys.argv[2]), float(sys.argv[3])
group = document["group"]
phase = next(p for p in group["phases"] if p["name"] == "reads")
metric = next(m for p in document["phases"] for m in p["metrics"] if m["id"] == "reads.group.iops")
value = metric["value"] if metric["value"] is not None else metric["rejected_value"]
print("sum %.1f of %.0f, overlap %.1f %%, skew %.2f ms, balance %.0f %%, %s" % (
    value, cap, phase["overlap_percent"], phase["skew_ns"] / 1e6, phase["balance_percent"], metric["status"]))
assert abs(value / cap - 1) * 100 <= percent, value
assert phase["overlap_percent"] >= 95, phase
assert phase["skew_ns"] < 50e6, phase
assert phase["skew_ns"] > 0 and len(phase["shares"]) == 4, phase
assert group["size"] == 4 and group["rank"] == 0, group
PYTHON
}

together() {
    four "$@"
    for number in 0 1 2 3; do
        ended "$number"
        # A busy machine makes numbers refused, which is right; the sum has to be the true one all the same.
        [[ $status -eq 0 || $status -eq 4 ]] || fail "rank $number ended with $status: $(cat "$scratch/err$number")"
    done
    summed "$scratch/out0" 3
}
thrice together 27411

# In one file, which has no name while it is used.
one_file() {
    together 27420 --shared-file --set verify=crc32c
    python3 - "$scratch"/out[0-3] <<'PYTHON' || fail "the ranks did not share a file"
import json, sys
starts = []
for name in sys.argv[1:]:
    document = json.load(open(name))
    starts += [s["region_start_bytes"] for p in document["plan"]["phases"] if p["name"] == "reads" for s in p["streams"]]
    verify = next(p["verify"] for p in document["phases"] if p["name"] == "reads")
    assert verify["bytes_verified"] > 0 and not verify["mismatches"], verify
assert sorted(starts) == [n * (16 << 20) for n in range(4)], starts
PYTHON
    [[ -z $(find "$scratch/mount" -mindepth 1 -not -name lost+found) ]] || fail "something was left in the directory"
}
thrice one_file

# The disk of rank 1 is full when it writes.
full_disk() {
    local small=$scratch/small port=27421 number status=0
    mkdir -p "$small" "$scratch/large"
    mount -t tmpfs -o size=96m tmpfs "$small"
    cat >"$scratch/grows.toml" <<'TEXT'
name = "grows"
title = "reads, then files that grow"
answers = "What becomes of a group where one disk is full?"

[defaults]
access = "buffered"
block-size = "64KiB"
region = "8MiB"

[[phase]]
name = "reads"
operation = "read"
time = "3s"

[[phase]]
name = "grows"
operation = "write"
own-files = 1
fsync-at-end = true
TEXT
    rm -rf "$scratch"/archive*
    for number in 0 1; do
        local target=$scratch/large
        [[ $number -eq 0 ]] || target=$small
        "$narrows" run "$scratch/grows.toml" "$target" --group --rank "$number/2" --meet "127.0.0.1:$port" --json \
            --archive "$scratch/archive$number" >"$scratch/out$number" 2>"$scratch/err$number" &
        pids[number]=$!
    done
    until_it_reads
    head -c 200M /dev/zero >"$small/fills" 2>/dev/null || true
    for number in 0 1; do ended "$number"; done
    umount "$small"
    grep -q "rank 1 (.*) ended: its target failed (ENOSPC)" "$scratch/err0" || fail "rank 0 does not say why: $(cat "$scratch/err0")"
}
full_disk

# The directory is locked for the group: another run is refused meanwhile.
four 27412
until_it_reads
status=0
"$narrows" run "$scratch/reads.toml" "$scratch/mount" --archive "$scratch/other" >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq 3 ]] || fail "a stranger was let in with $status"
grep -q "in use by another check" "$scratch/err" || fail "$(cat "$scratch/err")"
# One is stopped for two of the six seconds.
kill -STOP "${pids[2]}"
sleep 2
kill -CONT "${pids[2]}"
for number in 0 1 2 3; do
    ended "$number"
    [[ $status -eq 4 ]] || fail "rank $number ended with $status, and the phase was not together: $(cat "$scratch/err$number")"
    grep -q '"not-together"' "$scratch/out$number" || fail "rank $number does not say not-together"
done
python3 - "$scratch/out0" <<'PYTHON' || fail "who was stopped is not told"
import json, sys
phase = next(p for p in json.load(open(sys.argv[1]))["group"]["phases"] if p["name"] == "reads")
print("stopped: overlap %.1f %%, rank %s was active for the shortest time" % (phase["overlap_percent"], phase["least_active"]))
assert phase["least_active"] == 2 and phase["overlap_percent"] < 90, phase
PYTHON

# One is killed: the others end soon, say which it was, and leave nothing.
four 27413
until_it_reads
kill -KILL "${pids[1]}"
begun=$(date +%s)
wait "${pids[1]}" || true
for number in 0 2 3; do
    ended "$number"
    [[ $status -eq 4 ]] || fail "rank $number ended with $status after another was killed: $(cat "$scratch/err$number")"
    grep -q "rank 1 (.*) is gone" "$scratch/err$number" || fail "rank $number does not say which: $(cat "$scratch/err$number")"
done
took=$(($(date +%s) - begun))
[[ $took -le 10 ]] || fail "the others took $took s to end"
[[ -z $(find "$scratch/mount" -mindepth 1 -not -name lost+found) ]] || fail "something was left in the directory"
printf 'killed: the others ended after %s s\n' "$took"

# Rank 0 is killed: nobody is left to tell the others, who see it themselves.
four 27414
until_it_reads
kill -KILL "${pids[0]}"
begun=$(date +%s)
wait "${pids[0]}" || true
for number in 1 2 3; do
    ended "$number"
    [[ $status -eq 4 ]] || fail "rank $number: $(cat "$scratch/err$number")"
    grep -q "rank 0, where the group meets, is gone" "$scratch/err$number" || fail "$(cat "$scratch/err$number")"
done
took=$(($(date +%s) - begun))
[[ $took -le 10 ]] || fail "the others took $took s to end"

# kept NAME: the sum is the cap by what rank 0 kept in the archive NAME, where another program started the ranks.
kept() {
    local zero
    zero=$(grep -l '"rank":0,"size":4' "$scratch/$1"/runs/*/run.json 2>/dev/null || grep -lE '"rank": 0,$' "$scratch/$1"/runs/*/run.json | head -1)
    [[ -n $zero ]] || fail "$1: rank 0 kept no run: $(tail -5 "$scratch/err0")"
    "$narrows" runs show "$(basename "$(dirname "$zero")")" --archive "$scratch/$1" --json >"$scratch/out0" || fail "$1: it is not shown"
    summed "$scratch/out0" 3
}
deploy=$(cd "$(dirname "$0")/../../deploy" && pwd)
export NARROWS=$narrows

# started NAME COMMAND...: a way to start the ranks, below the cap.
started() {
    local name=$1 status=0
    shift
    rm -rf "${scratch:?}/$name"
    capped "$@" --archive "$scratch/$name" >"$scratch/err0" 2>&1 || status=$?
    [[ $status -eq 0 || $status -eq 4 ]] || fail "$name ended with $status: $(tail -5 "$scratch/err0")"
    printf '%s: ' "$name"
    kept "$name"
}
thrice started by-shells sh "$deploy/shells.sh" "- - - -" 27415 "$scratch/reads.toml" "$scratch/mount"

if command -v mpirun >/dev/null; then
    export MPIRUN="--allow-run-as-root --oversubscribe"
    thrice started by-mpirun sh "$deploy/mpirun.sh" 4 127.0.0.1:27416 "$scratch/reads.toml" "$scratch/mount"
else
    printf 'SKIPPED: there is no mpirun (Debian: openmpi-bin)\n'
    skipped=yes
fi

# By Slurm, with four nodes on this host.
if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v srun >/dev/null; then
    . "$(dirname "$0")/../slurm"
    # Not by `capped`, so that the numbers are those of the daemons themselves.
    four_nodes "$scratch/slurm" 16817 bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" ||
        fail "Slurm's nodes do not come: $(tail -3 "$scratch/slurm/log")"
    # All nodes are this host, which has no other names.
    export MEET=127.0.0.1:27417
    thrice started by-slurm timeout 120 sbatch --wait --nodes=4 --output="$scratch/slurm/output" "$deploy/slurm.sbatch" \
        "$scratch/reads.toml" "$scratch/mount"
else
    printf 'SKIPPED: there is no Slurm (Debian: slurm-wlm)\n'
    skipped=yes
fi
# What ran has passed; that the rest did not is counted.
[[ -z $skipped ]] || exit 77
