#!/usr/bin/env bash
# What `--destroy` says will be lost, on images that the real tools made: each file system, container and partition table has
# to be named; whatever blkid knows must not be called empty or unknown. Only plans are made: nothing is written. Needs root
# and a free loop device; a tool that is missing is SKIPPED. NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
device=

clean_up() {
    if [[ -n $device ]]; then losetup --detach "$device" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

image=$scratch/image
truncate --size 1M "$image"
device=$(losetup --find --show "$image" 2>"$scratch/err") || cannot "no loop device can be made here: $(head -1 "$scratch/err")"
losetup --detach "$device"
device=

# lost: what narrows says of the image.
lost() {
    device=$(losetup --find --show "$image")
    "$narrows" run depth "$device" --destroy "$(basename "$device")" --plan --archive "$scratch/archive" \
        >"$scratch/out" 2>"$scratch/err" || true
    losetup --detach "$device"
    device=
    sed -n 's/.* will be overwritten; on it: //p' "$scratch/err"
}

checked=0
# expect WORDS TOOL ARGUMENT...: after TOOL has worked on a new image, WORDS are named.
expect() {
    local words=$1 said before
    shift
    if ! command -v "$1" >/dev/null; then
        printf 'SKIPPED: there is no %s\n' "$1"
        return 0
    fi
    rm -f "$image"
    truncate --size 520M "$image"
    if ! "$@" </dev/null >"$scratch/log" 2>&1; then
        printf 'SKIPPED: %s: %s\n' "$*" "$(tail -1 "$scratch/log")"
        return 0
    fi
    truncate --size 520M "$image"
    before=$(stat --format "%y %b" "$image")
    said=$(lost)
    [[ $said == *"$words"* ]] || fail "$*: said '$said' and not '$words' $(cat "$scratch/err")"
    [[ $(stat --format "%y %b" "$image") == "$before" ]] || fail "$*: a plan changed the device"
    if command -v blkid >/dev/null && blkid -p "$image" >/dev/null 2>&1; then
        [[ $said != *"unknown content"* && $said != *"reads as"* ]] || fail "$*: blkid knows it: $(blkid -p "$image")"
    fi
    printf '%-28s %s\n' "$1" "$said"
    checked=$((checked + 1))
}

mkdir "$scratch/files"
echo text >"$scratch/files/text"
truncate --size 1M "$scratch/data"
luks() { echo -n secret | cryptsetup --batch-mode luksFormat --type "$1" --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$image" -; }
luks1() { luks luks1; }
luks2() { luks luks2; }
gpt() { sgdisk --new 1:0:+10M "$image"; }
gpt_backup() { sgdisk --new 1:0:+10M "$image" && dd if=/dev/zero of="$image" bs=512 count=40 conv=notrunc; }
mbr() { printf '2048,10M,83\n' | sfdisk --quiet "$image"; }
random() { dd if=/dev/urandom of="$image" bs=1M seek=256 count=16 conv=notrunc && truncate --size 520M "$image"; }
last_byte() { printf 'x' | dd of="$image" bs=1 seek=$((520 * 1024 * 1024 - 1)) conv=notrunc; }
lvm() {
    device=$(losetup --find --show "$image")
    local status=0
    pvcreate --yes "$device" || status=$?
    losetup --detach "$device"
    device=
    return "$status"
}

expect "reads as zeros where sampled" true
expect "unknown content" random
expect "unknown content" last_byte
expect "ext2, ext3 or ext4" mkfs.ext4 -q -F "$image"
expect "or its journal" mke2fs -q -F -O journal_dev "$image"
expect "an XFS file system" mkfs.xfs -q -f "$image"
expect "a btrfs file system" mkfs.btrfs -q -f "$image"
expect "an F2FS file system" mkfs.f2fs -q -f "$image"
expect "a nilfs2 file system" mkfs.nilfs2 -q -f "$image"
expect "a JFS file system" jfs_mkfs -q "$image"
expect "a ReiserFS file system" mkfs.reiserfs -q -f -f "$image"
expect "an OCFS2 file system" mkfs.ocfs2 -q -F --fs-features=local "$image"
expect "a GFS or GFS2 file system" mkfs.gfs2 -q -O -p lock_nolock "$image"
expect "a Minix file system" mkfs.minix "$image"
expect "a Minix file system" mkfs.minix -3 "$image"
expect "an SCO BFS file system" mkfs.bfs "$image"
expect "a FAT file system" mkfs.vfat "$image"
expect "a FAT file system" mkfs.vfat -F 32 "$image"
expect "an exFAT file system" mkfs.exfat "$image"
expect "an NTFS file system" mkfs.ntfs -Q -F -q "$image"
expect "a UDF file system" mkudffs "$image"
expect "an HFS+ file system" mkfs.hfsplus "$image"
expect "an ISO 9660 file system" genisoimage -quiet -o "$image" "$scratch/files"
expect "a squashfs file system" mksquashfs "$scratch/files" "$image" -quiet -noappend
expect "an EROFS file system" mkfs.erofs "$image" "$scratch/files"
expect "a cramfs file system" mkfs.cramfs "$scratch/files" "$image"
expect "a bcache device" make-bcache -B "$image"
expect "a bcache device" make-bcache -C "$image"
expect "an LVM physical volume" lvm
expect "a LUKS container" luks1
expect "a LUKS container" luks2
expect "a dm-verity hash device" veritysetup format "$scratch/data" "$image"
for page in 4096 8192 16384 32768 65536; do
    expect "swap space" mkswap --pagesize "$page" "$image"
done
expect "a partition table (GPT)" gpt
expect "a partition table (GPT)" gpt_backup
expect "a partition table (MBR)" mbr
[[ $checked -gt 10 ]] || cannot "only $checked of the tools are here"
