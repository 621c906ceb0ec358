#!/usr/bin/env bash
# A block of a soak's file on btrfs is damaged on the device below it, between two sessions: the soak finds it, the scrub that
# it starts finds it, the counters of the file system and the kernel's messages are told beside it, and the hook is called for
# what is wrong in data. Needs root, a loop device that this script makes, and mkfs.btrfs; NARROWS is the binary.
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

needs mkfs.btrfs python3
grep -qw btrfs /proc/filesystems || cannot "this kernel has no btrfs"
truncate -s 1G "$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") || cannot "no loop device: $(head -1 "$scratch/err")"
mkfs.btrfs -q --data single "$device" >"$scratch/err" 2>&1 || fail "mkfs.btrfs"
mkdir "$scratch/mnt"
options=()
attach() { mount "${options[@]}" "$device" "$scratch/mnt" && mounted=yes; }
# What a process had in flight by io_uring is let go of a moment after it has ended.
detach() {
    for _ in $(seq 50); do
        if umount "$scratch/mnt" 2>/dev/null; then mounted= && return; fi
        sleep 0.1
    done
    umount "$scratch/mnt" && mounted=
}
attach
export NARROWS_ARCHIVE=$scratch/archive

# soak EXPECTED_STATUS ARGUMENT...: the answer is in $scratch/answer.
soak() {
    local wanted=$1 status=0
    shift
    timeout 120 "$narrows" soak "$@" --json >"$scratch/answer" 2>"$scratch/err" || status=$?
    [[ $status -eq $wanted ]] || fail "soak $* ended with $status, not $wanted"
}
asserts() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); assert $1, d" "$scratch/answer" || fail "$1"; }

# interrupted: a soak of a file that stays, ended while it writes.
interrupted() {
    truncate -s 64M "$scratch/mnt/data"
    "$narrows" soak "$scratch/mnt/data" --overwrite --passes 1000 --no-scrub >/dev/null 2>"$scratch/err" &
    local running=$!
    sleep 2
    kill -INT "$running"
    wait "$running" || true
}

# damaged: one bit of the file's block 6,000, where it lies on the device; $scratch/block is what was there.
damaged() {
    sync
    dd if="$scratch/mnt/data" of="$scratch/block" bs=4096 skip=6000 count=1 status=none
    detach
    python3 - "$device" "$scratch/block" <<'PY' || fail "the block was not found on the device"
import sys
block = open(sys.argv[2], "rb").read()
found = 0
with open(sys.argv[1], "r+b") as device:
    at = 0
    while piece := device.read(1 << 24):
        for start in range(0, len(piece), 4096):
            if piece[start:start + 4096] == block:
                device.seek(at + start + 100)
                device.write(bytes([block[100] ^ 1]))
                found += 1
        at += len(piece)
        device.seek(at)
sys.exit(found == 0)
PY
    sync
    attach
}

soak 0 "$scratch/mnt" --size 64M --passes 1
asserts 'd["clean"] and d["scrub"]["bytes"] > 0 and d["scrub"]["checksum_errors"] == 0 and not d["scrub"]["failed"]'
asserts '[c for n, c in d["counters"].items() if n.endswith("corruption_errors")] == [{"before": 0, "after": 0}]'

interrupted
damaged
soak 1 --resume --overwrite --on-finding stop
# btrfs gives no wrong data out: it says EIO. The soak ends with that, and the block is still there for the scrub.
asserts 'd["state"] == "found" and not d["clean"] and d["errors"].get("EIO", 0) > 0'
asserts 'd["scrub"]["checksum_errors"] == 1 and d["scrub"]["uncorrectable_errors"] == 1'
asserts '[c["after"] > c["before"] for n, c in d["counters"].items() if n.endswith("corruption_errors")] == [True]'
asserts 'any("csum" in line for line in d["kernel_warnings"])'

# Without checksums the file system gives it out, and the stamps find it.
rm "$scratch/mnt/data"
detach
options=(-o nodatasum)
attach
interrupted
damaged
soak 1 --resume --overwrite --on-finding stop --no-scrub --hook "cat >> $scratch/hook"
asserts 'd["state"] == "found" and [f["class"] for f in d["findings"]] == ["bit-rot"] and not d["errors"] and d["scrub"] is None'
grep -q '"class":"bit-rot"' "$scratch/hook" || fail "the hook was not called with the finding"
kept=("$scratch"/archive/soaks/*/48000-bit-rot-*.expected)
head -c "$(stat -c %s "${kept[0]}")" "$scratch/block" | cmp -s "${kept[0]}" - || fail "other bytes are kept than were written"
[[ $(cmp -l "${kept[0]}" "${kept[0]%.expected}.received" | wc -l) -eq 1 ]] || fail "not one byte differs"
echo ok
