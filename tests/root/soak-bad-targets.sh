#!/usr/bin/env bash
# Targets that go bad while they are soaked, on real file systems over a loop device: XFS that shuts down, ext4 that turns read-only.
# The soak ends at once, says why, and goes on when they are there again; what was promised is there. Needs root; NARROWS is the
# binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)

clean_up() {
    umount "$scratch/mnt" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

needs mkfs.xfs mkfs.ext4 xfs_io
export NARROWS_ARCHIVE=$scratch/archive
mkdir "$scratch/mnt"

# What a process had in flight by io_uring is let go of a moment after it has ended.
unmounted() {
    for _ in $(seq 50); do
        if umount "$scratch/mnt" 2>/dev/null; then return; fi
        sleep 0.1
    done
    umount "$scratch/mnt"
}

# goes_bad MKFS COMMAND ERROR: soaked on a new file system, which COMMAND spoils when a lap is done.
goes_bad() {
    local make=$1 spoil=$2 error=$3 status=0 soak
    rm -rf "$scratch/archive"
    rm -f "$scratch/image"
    truncate -s 400M "$scratch/image"
    $make "$scratch/image" >/dev/null
    mount -o loop "$scratch/image" "$scratch/mnt" || cannot "a loop device cannot be mounted here"
    "$narrows" soak "$scratch/mnt" --size 64MiB --for 10m --rate 40MB >"$scratch/answer" 2>"$scratch/err" &
    soak=$!
    until_so 60 grep -q 'pass 1, lap 2' "$scratch/err" || fail "$make: its first lap never ended"
    $spoil
    wait "$soak" || status=$?
    [[ $status -eq 3 ]] || fail "$make: ended with $status"
    grep -q "the target failed (.*$error" "$scratch/err" || fail "$make: does not say $error"
    unmounted
    mount -o loop "$scratch/image" "$scratch/mnt"
    status=0
    "$narrows" soak --resume --passes 1 --json >"$scratch/answer" 2>"$scratch/err" || status=$?
    # Operations failed, and that stays told; no data are wrong.
    [[ $status -eq 1 ]] || fail "$make: resumed, it ended with $status"
    grep -q '"findings": \[\]' "$scratch/answer" && grep -q '"passes": 1' "$scratch/answer" || fail "$make: not as it must be"
    unmounted
    printf '%s: as it must be\n' "$make"
}

shut_down() { xfs_io -x -c shutdown "$scratch/mnt"; }
read_only() {
    local device
    device=$(findmnt -n -o SOURCE "$scratch/mnt")
    echo 1 >"/sys/fs/ext4/${device#/dev/}/trigger_fs_error"
}

goes_bad 'mkfs.xfs -q' shut_down EIO
goes_bad 'mkfs.ext4 -q -F -e remount-ro' read_only EROFS
echo ok
