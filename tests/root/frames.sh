#!/usr/bin/env bash
# Alone: it measures a known rate.
# `narrows run frames` on a loop device of known rate, and on a full file system. Needs root and free loop devices; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(in_memory 900000000)
export NARROWS_ARCHIVE=$scratch/archive
device=
group=
small=

clean_up() {
    if [[ -n $group && -d $group ]]; then rmdir "$group" || true; fi
    if [[ -n $device ]]; then losetup --detach "$device" || true; fi
    if [[ -n $small ]]; then umount -l "$small" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

# says EXPRESSION: the document in $scratch/out is so; it is d, and way(NAME) one of its ways.
says() {
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
way = lambda name: next(w for w in d["ways"] if w["way"] == name)
sys.exit(not eval(sys.argv[2]))' "$scratch/out" "$1" || fail "not so: $1"
}

# A device that nobody named is not written to.
truncate -s 512M "$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") || cannot "no loop device can be made: $(head -1 "$scratch/err")"
code=0
"$narrows" run frames "$device" --json >"$scratch/out" 2>"$scratch/err" || code=$?
[[ $code -eq 3 ]] || fail "exit code $code without --destroy"
says '"--destroy" in d["message"] + (d["remedy"] or "")'
cmp -n 536870912 "$scratch/image" /dev/zero || fail "something was written that nobody allowed"
printf 'ok: a device is written to only by its name\n'

# A storage of known rate: no way carries more, and the two that write directly carry nearly all of it.
blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts)
if [[ -n $blkio ]] && mkdir "$blkio/narrows-frames-$$" 2>/dev/null; then
    group=$blkio/narrows-frames-$$
    number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
    printf '%s 40000000\n' "$number" >"$group/blkio.throttle.write_bps_device"
    carried() {
        bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$narrows" run frames "$device" --destroy "${device#/dev/}" --json \
            --max-write 20GB --set time=6s --set rest=500ms --set size=500KB --set rounds=2 --set ring=16MiB --set max-latency=500ms \
            >"$scratch/out" 2>"$scratch/err" || fail "exit code $?"
        says '[w["way"] for w in d["ways"]] == ["direct", "device-buffered", "container"] and len(d["left_out"]) == 2'
        # The ring, empty at first, would hide two megabytes a second beyond the rate.
        says 'all(30e6 < way(n)["sustained_bytes_per_s"] < 42.5e6 for n in ("direct", "container"))'
        says 'all(36e6 < r < 42e6 for n in ("direct", "container") for r in way(n)["full_bytes_per_s"])'
        says '0.9 < way("direct")["of_container"] < 1.1'
        says 'all(w["compared"]["lost"] == 0 for w in d["ways"] if w["compared"])'
    }
    thrice carried
    printf 'ok: of 40 MB/s %s\n' "$(python3 -c '
import json, sys
print(", ".join("%s carries %.1f MB/s" % (w["way"], (w["sustained_bytes_per_s"] or 0) / 1e6) for w in json.load(open(sys.argv[1]))["ways"]))' "$scratch/out")"
    rmdir "$group"
    group=
else
    printf 'SKIPPED: a storage of known rate: no blkio control groups of version 1\n'
fi

# A file system that is too small, and one that fills up below the measurement: said, and nothing is left.
small=$scratch/small
mkdir "$small"
mount -t tmpfs -o size=200m none "$small"
( sleep 2; head -c 150000000 /dev/zero >"$small/theirs" 2>/dev/null ) &
"$narrows" run frames "$small" --json --set time=500ms --set rest=0s --set size=200KB >"$scratch/out" 2>"$scratch/err" && code=0 || code=$?
wait
[[ $code -eq 0 || $code -eq 4 || $code -eq 3 ]] || fail "exit code $code on a full file system"
[[ $(ls "$small") == theirs ]] || fail "left: $(ls "$small")"
printf 'ok: a file system that fills up is said, and nothing of ours is left\n'
