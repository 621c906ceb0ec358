#!/usr/bin/env bash
# No output of any command reaches a disk: a loop device with a mounted file system, named in every way, by every command that
# writes a file, and as stdout. The content is hashed before and after. Needs root and a free loop device; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=

clean_up() {
    umount "$scratch/nodes/bound" 2>/dev/null || true
    umount "$scratch/mnt" 2>/dev/null || true
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

command -v mkfs.ext4 >/dev/null || cannot "there is no mkfs.ext4"
truncate --size=64M "$scratch/image"
mkfs.ext4 -q "$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
mkdir "$scratch/mnt" "$scratch/nodes"
mount -o ro,noload "$device" "$scratch/mnt" 2>"$scratch/err" || cannot "nothing can be mounted: $(head -1 "$scratch/err")"
export NARROWS_ARCHIVE=$scratch/archive
for seed in 1 2; do
    "$narrows" check sim:nvme --budget 20s --seed "$seed" >"$scratch/out" 2>"$scratch/err" || fail "check sim:nvme"
done
mapfile -t runs < <(ls "$NARROWS_ARCHIVE/runs")

# The device by its name, by another node, by links to each, and through a bind mount of the node on a file.
read -r major minor < <(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ' | tr ':' ' ')
mknod "$scratch/nodes/disk" b "$major" "$minor"
ln -s "$device" "$scratch/nodes/link.html"
ln -s link.html "$scratch/nodes/twice.html"
ln -s disk "$scratch/nodes/link-to-node"
names=("$device" "$scratch/nodes/disk" "$scratch/nodes/link.html" "$scratch/nodes/twice.html" "$scratch/nodes/link-to-node"
    "/proc/self/root$device")
touch "$scratch/nodes/bound"
if mount --bind "$device" "$scratch/nodes/bound" 2>/dev/null; then names+=("$scratch/nodes/bound"); fi
before=$(sha256sum <"$device")

commands=(
    "report ${runs[0]} -o"
    "report ${runs[0]} ${runs[1]} -o"
    "report ${runs[0]} --identify -o"
    "compare ${runs[0]} ${runs[1]} -o"
    "rank ${runs[0]} sim -o"
    "check sim:nvme --budget 20s --report"
    "run depth sim:nvme --report"
    "export ${runs[0]} --format csv -o"
    "export ${runs[0]} --format fio-json -o"
    "export ${runs[0]} --format hlog -o"
    "export ${runs[0]} --format fio-logs -o"
    "inspect --capture"
)
tried=0
for command in "${commands[@]}"; do
    for name in "${names[@]}"; do
        # shellcheck disable=SC2086 # The words of a command.
        code=0 && "$narrows" $command "$name" >"$scratch/out" 2>"$scratch/err" || code=$?
        ((code == 2 || code == 3)) || fail "$command $name ended with $code"
        blockdev --flushbufs "$device"
        [[ $(sha256sum <"$device") == "$before" ]] || fail "$command $name wrote to the disk"
        tried=$((tried + 1))
    done
done
for command in "runs list" "runs --json" "report ${runs[0]} --json" "export ${runs[0]} --format csv" "completions bash" "--help" "--nope"; do
    # shellcheck disable=SC2086
    code=0 && "$narrows" $command 1<>"$device" 2>"$scratch/err" || code=$?
    ((code == 3)) || fail "$command with stdout on a disk ended with $code"
    # shellcheck disable=SC2086
    "$narrows" $command 2<>"$device" >"$scratch/out" || true
    blockdev --flushbufs "$device"
    [[ $(sha256sum <"$device") == "$before" ]] || fail "$command wrote to the disk that stdout was"
    tried=$((tried + 1))
done
umount "$scratch/nodes/bound" 2>/dev/null || true
[[ $(find "$NARROWS_ARCHIVE/runs" -mindepth 1 -maxdepth 1 | wc -l) -eq 2 ]] || fail "something was measured for a page without a place"

# A full file system leaves no half file. It is another one: a mount namespace made beside this script may still hold the first read-only.
umount "$scratch/mnt"
losetup --detach "$device"
device=
truncate --size=64M "$scratch/full"
mkfs.ext4 -q "$scratch/full"
device=$(losetup --find --show "$scratch/full")
mount -o rw "$device" "$scratch/mnt"
head -c 100M /dev/zero >"$scratch/mnt/filler" 2>/dev/null || true
for command in "${commands[@]}"; do
    case $command in check* | run* | rank*) continue ;; esac
    name=$scratch/mnt/new
    # shellcheck disable=SC2086
    code=0 && "$narrows" $command "$name" >"$scratch/out" 2>"$scratch/err" || code=$?
    ((code == 3)) || fail "$command on a full disk ended with $code"
    [[ -z $(find "$scratch/mnt" -type f ! -name filler) ]] || fail "$command left $(find "$scratch/mnt" -type f ! -name filler)"
done
printf 'outputs: %d ways to a disk, none of them written; nothing left on a full one\n' "$tried"
