#!/usr/bin/env bash
# `narrows check` on a loop device that this script makes: ext4 on it, the device itself, a read-only mount, and the
# refusal to write to a device that is mounted; and a loop device of others that is just taken from its file. Needs root, a free
# loop device, mkfs.ext4 and strace; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=
ours=

clean_up() {
    if mountpoint -q "$scratch/mnt"; then umount "$scratch/mnt"; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    if [[ -n $ours ]]; then losetup --detach "$ours"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

# run STATUS ARGUMENT...: it must end with this status; the document is in $scratch/out. A check may also end with 4
# where 0 is expected: a busy machine makes numbers refused, which is right, and no business of this script.
run() {
    local expected=$1 status=0
    shift
    "$narrows" "$@" --json --archive "$scratch/archive" >"$scratch/out" 2>"$scratch/err" || status=$?
    if [[ $1 == check && $expected -eq 0 && $status -eq 4 ]]; then status=0; fi
    [[ $status -eq $expected ]] || fail "narrows $*: ended with $status instead of $expected"
}

has() { grep -q -- "$1" "$scratch/out" || fail "the document lacks: $1"; }

needs mkfs.ext4 strace
# Random content, and kept by mkfs: reads of holes and zeros would rightly be refused.
head -c 512M /dev/urandom >"$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
mkfs.ext4 -q -F -E nodiscard "$device"
mkdir "$scratch/mnt"
mount "$device" "$scratch/mnt" 2>"$scratch/err" || cannot "nothing can be mounted here: $(head -1 "$scratch/err")"

echo "a directory on ext4"
free_before=$(stat -f -c %f "$scratch/mnt")
run 0 check "$scratch/mnt" --budget 10s
has '"narrows/check/1"'
has '"kind": *"loop"'
has '"fstype": *"ext4"'
has '"state": *"complete"'
[[ $(find "$scratch/mnt" -mindepth 1 -not -name lost+found | wc -l) -eq 0 ]] || fail "a file was left behind"
sync -f "$scratch/mnt"
free_after=$(stat -f -c %f "$scratch/mnt")
(( free_before - free_after < 64 )) || fail "space was left behind: $free_before blocks before, $free_after after"

echo "a mounted device is never written to"
run 3 check "$device" --destroy "$(basename "$device")" --budget 5s
has '"narrows/error/1"'
has '"refused"'

echo "a read-only mount"
mount -o remount,ro "$scratch/mnt"
run 3 check "$scratch/mnt" --budget 5s
has '"narrows/error/1"'
umount "$scratch/mnt"

echo "the device itself, only reading"
before=$(sha256sum <"$scratch/image")
run 0 check "$device" --budget 5s
has '"block-device"'
has '"state": *"complete"'
has '"bytes_written": *0\b'
sync
[[ $(sha256sum <"$scratch/image") == "$before" ]] || fail "check changed a device that it may only read"

echo "a loop device of others that says ENXIO for a moment, as one does that is just taken from its file, and for ever"
cat >"$scratch/text.toml" <<'TOML'
name = "some"
[[phase]]
name = "some"
operation = "write"
order = "random"
block-size = "4KiB"
region = "1MiB"
time = "10ms"
TOML
truncate -s 8M "$scratch/ours"
ours=$(losetup --find --show "$scratch/ours")
# says WHEN STATUS: the program's requests to the device of others fail, at these calls.
says() {
    local status=0
    strace -f -qq -o "$scratch/log" -P "$device" -e trace=ioctl -e inject=ioctl:error=ENXIO:when="$1" \
        "$narrows" run "$scratch/text.toml" "$ours" --destroy "$(basename "$ours")" --archive "$scratch/archive" >"$scratch/out" 2>&1 || status=$?
    # Measured; a busy machine may refuse the numbers.
    if [[ $2 -eq 0 && $status -eq 4 ]]; then status=0; fi
    [[ $status -eq $2 ]] || fail "it ended with $status instead of $2"
    grep -q INJECTED "$scratch/log" || fail "the device was not asked"
}
says 1..3 0
says 1+ 3
has "the devices below ${device#/dev/} are not known"

echo "every bundle is as it was written"
run 0 runs verify
