#!/usr/bin/env bash
# Alone: what others write to the disk would be counted.
# `narrows check` writes no more than it announces: counted by the kernel (diskstats) on a loop device that this script makes, as
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

default=$(((4 << 30) / 50))
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
echo "ok"
