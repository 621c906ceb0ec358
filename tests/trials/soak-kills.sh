#!/usr/bin/env bash
# A soak killed (SIGKILL) at random many times and resumed each time, on ext4, xfs and btrfs over loop devices that this script
# makes; then finished. Nothing may be wrong at the end, and nothing left.
#
#     tests/trials/soak-kills.sh PROGRAM [KILLS] [FILE_SYSTEM...]
#
# Needs root, free loop devices and the mkfs of each file system.
set -euo pipefail
program=$(readlink -f "$1")
kills=${2:-100}
systems=("${@:3}")
[[ ${#systems[@]} -gt 0 ]] || systems=(ext4 xfs btrfs)
export PATH="$PATH:/usr/sbin:/sbin"
work=$(mktemp -d)
device=

clean_up() {
    mountpoint -q "$work/mnt" && umount "$work/mnt"
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$work"
}
trap clean_up EXIT

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    tail -20 "$work/err" >&2
    exit 1
}

mkdir "$work/mnt"
for system in "${systems[@]}"; do
    rm -f "$work/image"
    truncate -s 1G "$work/image"
    device=$(losetup --find --show "$work/image")
    "mkfs.$system" -q "$device" >"$work/err" 2>&1
    mount "$device" "$work/mnt"
    export NARROWS_ARCHIVE=$work/archive-$system
    how=(soak "$work/mnt" --size 128M --passes 1000)
    for ((kill = 1; kill <= kills; kill++)); do
        "$program" "${how[@]}" >"$work/out" 2>"$work/err" &
        soak=$!
        sleep "0.$((RANDOM % 9 + 1))"
        kill -KILL "$soak" 2>/dev/null || fail "$system: it ended by itself at kill $kill"
        wait "$soak" 2>/dev/null || true
        # A first session that was killed before its state was there has nothing to continue.
        if compgen -G "$NARROWS_ARCHIVE/soaks/*.json" >/dev/null; then how=(soak --resume); fi
    done
    # Goes on until all that was interrupted has been read and a pass has ended, then ends by a signal as a user would end it.
    "$program" "${how[@]}" --json >"$work/out" 2>"$work/err" &
    soak=$!
    sleep 15
    kill -INT "$soak"
    status=0
    wait "$soak" || status=$?
    [[ $status -eq 130 ]] || fail "$system: ended with $status after an interrupt"
    python3 - "$system" "$kills" "$work/out" <<'PY' || fail "$system: something is wrong"
import json, sys
answer = json.load(open(sys.argv[3]))
print(f"{sys.argv[1]}: {sys.argv[2]} kills, {answer['passes']} passes, {answer['bytes_verified'] / 1e9:.1f} GB verified, {len(answer['findings'])} findings")
sys.exit(bool(answer["findings"] or answer["errors"] or not answer["clean"]))
PY
    umount "$work/mnt"
    losetup --detach "$device"
    device=
done
