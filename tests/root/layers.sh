#!/usr/bin/env bash
# `narrows run layers` on ext4 on a loop device that this script makes, and on that device: every level that this kernel has
# is measured, at the same bytes, and nothing but a file of its own is written. Mappings are in lab/machines/microvm-layers.toml. Needs
# root, a free loop device and mkfs.ext4; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=

clean_up() {
    if mountpoint -q "$scratch/mnt"; then umount "$scratch/mnt"; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

# layers STATUS ARGUMENT...: it must end with this status; the document is in $scratch/out.
layers() {
    local expected=$1 status=0
    shift
    "$narrows" run layers "$@" --json --archive "$scratch/archive" --set time=400ms --set rest=50ms --set rounds=3 --set region=64MiB \
        >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq $expected ]] || fail "narrows run layers $*: ended with $status instead of $expected"
}

has() { grep -q -- "$1" "$scratch/out" || fail "the document lacks: $1"; }
lacks() { if grep -q -- "$1" "$scratch/out"; then fail "the document has: $1"; fi; }

needs mkfs.ext4
head -c 300M /dev/urandom >"$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
name=${device#/dev/}
mkfs.ext4 -q -F -b 4096 -E nodiscard "$device"
mkdir "$scratch/mnt"
mount "$device" "$scratch/mnt" 2>"$scratch/err" || cannot "nothing can be mounted here: $(head -1 "$scratch/err")"

echo "the file, the loop device, and the file behind it"
layers 0 "$scratch/mnt"
for level in "file buffered" "file direct" "$name" "the file behind $name"; do has "\"name\": *\"$level\""; done
for layer in "the page cache" "ext4" "the loop device $name"; do has "\"layer\": *\"$layer\""; done
lacks '"same_bytes": *false'
[[ $(find "$scratch/mnt" -mindepth 1 -not -name lost+found | wc -l) -eq 0 ]] || fail "a file was left behind"

echo "each level read the bytes of the file: the same ones are on the device"
head -c 64M /dev/urandom >"$scratch/mnt/mine"
sync -f "$scratch/mnt"
sum=$(sha256sum "$scratch/mnt/mine")
layers 0 "$scratch/mnt/mine"
has '"bytes_written": *0'
[[ $(sha256sum "$scratch/mnt/mine") == "$sum" ]] || fail "the file was changed"

echo "a device that is mounted is read, and not written to"
umount "$scratch/mnt"
before=$(sha256sum "$scratch/image")
layers 0 "$device"
has "\"name\": *\"$name\""
lacks '"name": *"file direct"'
has '"bytes_written": *0'
[[ $(sha256sum "$scratch/image") == "$before" ]] || fail "the device was changed"

echo "without root the devices are named, and the file is measured"
mount "$device" "$scratch/mnt"
chmod 755 "$scratch"
mkdir -m 777 "$scratch/mnt/open" "$scratch/other"
status=0
setpriv --reuid=65534 --regid=65534 --clear-groups -- env NARROWS_ARCHIVE="$scratch/other/archive" HOME="$scratch/other" \
    "$narrows" run layers "$scratch/mnt/open" --json --set time=400ms --set rounds=2 --set region=32MiB \
    >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq 0 ]] || fail "as another user it ended with $status"
has "\"level\": *\"$name\""
has '(EACCES); run as its owner or as root'
echo "run layers: ok"
