#!/usr/bin/env bash
# On a file system that is mounted without barriers nothing is said to be good for what needs syncs, and a soak says what it did not try. The same
# file system with them is the control. Needs root and a loop device with direct I/O that this script makes; NARROWS is the binary.
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

needs mkfs.ext4 python3
truncate -s 600M "$scratch/image"
device=$(losetup --find --show --direct-io=on "$scratch/image" 2>"$scratch/err") || cannot "no loop device: $(head -1 "$scratch/err")"
mkfs.ext4 -q "$device" 2>"$scratch/err" || fail "mkfs.ext4"
mkdir "$scratch/mnt"
export NARROWS_ARCHIVE=$scratch/archive

for option in barrier nobarrier; do
    mount -o "$option" "$device" "$scratch/mnt"
    mounted=yes
    status=0
    "$narrows" check "$scratch/mnt" --for sqlite --budget 5s --max-write 64MiB --json >"$scratch/check" 2>"$scratch/err" || status=$?
    "$narrows" soak "$scratch/mnt" --size 32MiB --passes 1 --json >"$scratch/soak" 2>"$scratch/err" || fail "soak ended with $?"
    python3 - "$option" "$status" "$scratch/check" "$scratch/soak" <<'END'
import json, sys
option, status, check, soak = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3])), json.load(open(sys.argv[4]))
off = option == "nobarrier"
# Of a phase: where others use the disk, its numbers are refused for that, and it is said all the same.
synced = [p["name"] for p in check["phases"] if any(r.get("code") == "no-flushes" for r in p["reasons"])]
assert bool(synced) == off, (option, check["phases"])
fit = next(f for f in check["fit"] if f["for"] == "sqlite")
assert not off or (fit["met"] is None and status == 4), (option, status, fit)
assert any("no flush reaches" in remark for remark in soak["remarks"]) == off, (option, soak["remarks"])
print(f"{option}: sqlite {fit['met']}, without flushes: {synced}")
END
    umount "$scratch/mnt"
    mounted=
done
printf 'ok\n'
