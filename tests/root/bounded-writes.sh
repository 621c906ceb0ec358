#!/usr/bin/env bash
# What writes writes no more than it announces: counted by the kernel (diskstats) on a loop device that this script makes, as
# a device and under a file system. Needs root and a free loop device; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=
mounted=

clean_up() {
    if [[ -n $mounted ]]; then umount "$scratch/mnt"; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

command -v python3 >/dev/null || cannot "there is no python3, which reads the documents"
truncate -s 4G "$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
export NARROWS_ARCHIVE=$scratch/archive

# Bytes that the device was told to write since it exists (%d of some awks ends at 2 GiB).
written() { awk -v name="${device#/dev/}" '$3 == name { printf "%.0f", $10 * 512 }' /proc/diskstats; }

# bound TARGET ARGUMENT...: what the plan says that it writes at most.
bound() {
    "$narrows" check "$@" --plan --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes_written_at_most"])'
}

# trial NAME MOST TARGET ARGUMENT...: neither what is announced nor what the kernel counts is more than MOST bytes.
trial() {
    local name=$1 most=$2 before after planned status=0
    shift 2
    planned=$(bound "$@")
    [[ $planned != None && $planned -le $most ]] || fail "$name: the plan says $planned bytes, allowed are $most"
    before=$(written)
    "$narrows" check "$@" --budget 20s >"$scratch/out" 2>"$scratch/err" || status=$?
    # 1: too slow for what it was to be good for, on a busy machine.
    [[ $status -eq 0 || $status -eq 1 || $status -eq 4 ]] || fail "$name: narrows ended with $status"
    sync
    after=$(written)
    grep -q 'writes at most\|writes nothing' "$scratch/err" || fail "$name: nothing was announced"
    [[ $((after - before)) -le $most ]] || fail "$name: $((after - before)) bytes were written, announced were $most"
    printf '%-28s at most %12s   written %12s\n' "$name" "$most" "$((after - before))"
}

# A loop device goes by the disk below it: 2 GiB, or a fiftieth of that disk.
default=$((2 << 30))
trial "device, default" "$default" "$device" --destroy "${device#/dev/}"
trial "device, --max-write" $((64 << 20)) "$device" --destroy "${device#/dev/}" --max-write 64MiB
trial "device, --read-only" 0 "$device" --read-only
command -v mkfs.ext4 >/dev/null || cannot "the device kept to its bounds; there is no mkfs.ext4 for a file system"
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$device" 2>"$scratch/err" || fail "mkfs.ext4"
mkdir "$scratch/mnt"
mount "$device" "$scratch/mnt"
mounted=yes
# A file system's own metadata is part of the bound.
trial "file system, default" "$default" "$scratch/mnt"
trial "file system, --max-write" $((128 << 20)) "$scratch/mnt" --max-write 128MiB
# Appends with a sync each make the journal write the most beside them.
trial "file system, for etcd" $((64 << 20)) "$scratch/mnt" --max-write 64MiB --for etcd
trial "file system, for sqlite" $((64 << 20)) "$scratch/mnt" --max-write 64MiB --for sqlite

# kept NAME MOST COMMAND...: what the kernel counts is no more than MOST bytes.
kept() {
    local name=$1 most=$2 before after status=0
    shift 2
    before=$(written)
    "$narrows" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq 0 || $status -eq 1 || $status -eq 4 ]] || fail "$name: narrows ended with $status"
    sync
    after=$(written)
    [[ $((after - before)) -le $most ]] || fail "$name: $((after - before)) bytes were written, announced were $most"
    printf '%-28s at most %12s   written %12s\n' "$name" "$most" "$((after - before))"
}

# planned KEY COMMAND...: a number of a plan.
planned() {
    local key=$1
    shift
    "$narrows" "$@" --plan --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$key"
}

kept "record --plan, default" "$default" record --plan -o "$scratch/mnt" --for 20s
kept "record --plan, --max-write" $((128 << 20)) record --plan -o "$scratch/mnt" --for 20s --max-write 128MiB
most=$(planned bytes_at_most run frames "$scratch/mnt" --max-write 1GiB --set size=500KB)
[[ $most -le $((1 << 30)) ]] || fail "run frames announces $most"
kept "run frames, --max-write" "$most" run frames "$scratch/mnt" --max-write 1GiB --set size=500KB --set time=1s --set rest=0s
packages=(run packages "$scratch/mnt" --set speed=max)
most=$("$narrows" "${packages[@]}" --plan --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes_written_at_most"])')
before=$(written)
kept "run packages" "$most" "${packages[@]}"
# And not much less: who has a card of little endurance reads it.
[[ $((most * 4 / 5)) -le $(($(written) - before)) ]] || fail "run packages announces $most and writes $(($(written) - before))"
# What only its time would bound.
for workload in stream sweep; do
    most=$("$narrows" run "$workload" "$scratch/mnt" --plan --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes_written_at_most"])')
    kept "run $workload" "$most" run "$workload" "$scratch/mnt" --set time=500ms
done

# What is recorded without a size takes what it needs, and gives back what it reserved ahead.
before=$(df --output=used -B1 "$scratch/mnt" | tail -1)
"$narrows" record -o "$scratch/mnt/x.nrec" --generate 1x100KB@100 --for 3s >"$scratch/out" 2>"$scratch/err" || fail "record"
after=$(df --output=used -B1 "$scratch/mnt" | tail -1)
[[ $((after - before)) -lt 40000000 ]] || fail "30 MB that were recorded take $((after - before))"
rm "$scratch/mnt/x.nrec"
# Until a twentieth is left, or 256 MiB. What others have reserved takes no room of the image.
fallocate -l 3G "$scratch/mnt/theirs"
"$narrows" record -o "$scratch/mnt/x.nrec" --generate 1x1MB@max --frames 9000 --json >"$scratch/out" 2>"$scratch/err" && code=0 || code=$?
[[ $code -eq 1 ]] || fail "exit code $code of a file system that is full"
grep -q '"ended_by": *"no-room"' "$scratch/out" || fail "no reason"
left=$(df --output=avail -B1 "$scratch/mnt" | tail -1)
[[ $left -ge $((250 << 20)) && $left -le $((420 << 20)) ]] || fail "$left bytes are left"
"$narrows" record --verify -o "$scratch/mnt/x.nrec" >"$scratch/out" 2>&1 || fail "what was recorded is not there"

# A small file system in memory, and one that is read-only.
umount "$scratch/mnt"
mount -t tmpfs -o size=64m none "$scratch/mnt"
"$narrows" soak "$scratch/mnt" >"$scratch/out" 2>"$scratch/err" || fail "a soak on a small tmpfs"
"$narrows" record -o "$scratch/mnt/x.nrec" --generate 1x100KB@50 --for 1s >"$scratch/out" 2>"$scratch/err" || fail "a recording there"
mount -o remount,ro "$scratch/mnt"
for command in "soak $scratch/mnt" "record -o $scratch/mnt --generate 1x10KB@10 --for 1s"; do
    # shellcheck disable=SC2086
    "$narrows" $command >"$scratch/out" 2>"$scratch/err" && code=0 || code=$?
    [[ $code -eq 3 ]] || fail "$command: exit code $code"
    grep -q 'remount,rw' "$scratch/err" || fail "$command: no remedy"
    ! grep -q 'os error' "$scratch/err" || fail "$command: a number for people"
done
echo "ok"
