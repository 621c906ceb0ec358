#!/usr/bin/env bash
# File systems that are no device of this machine, for real: an overlay, and a file system in user mode over an image. What limits them is never
# called "the device" where none is known below; read-ahead of their own number is a setting that is changed and restored. Needs root, ntfs-3g
# and /dev/fuse. NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

for tool in ntfs-3g mkfs.ntfs; do command -v "$tool" >/dev/null || cannot "there is no $tool"; done
[[ -c /dev/fuse ]] || cannot "there is no /dev/fuse"

scratch=$(mktemp -d)
clean_up() {
    for point in user merged below; do
        if mountpoint --quiet "$scratch/$point"; then umount "$scratch/$point"; fi
    done
    rm -rf "$scratch"
}
trap clean_up EXIT
export NARROWS_ARCHIVE=$scratch/archive

mkdir "$scratch/user" "$scratch/merged" "$scratch/below"
truncate --size 1G "$scratch/image"
mkfs.ntfs -F -Q -q "$scratch/image" >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
ntfs-3g "$scratch/image" "$scratch/user" 2>"$scratch/out" || cannot "ntfs-3g mounts nothing here: $(head -1 "$scratch/out")"
mount -t tmpfs -o size=512m below "$scratch/below"
mkdir "$scratch/below/lower" "$scratch/below/upper" "$scratch/below/work"
mount -t overlay -o "lowerdir=$scratch/below/lower,upperdir=$scratch/below/upper,workdir=$scratch/below/work" over "$scratch/merged" \
    || cannot "this kernel mounts no overlay"

for point in user merged; do
    "$narrows" check "$scratch/$point" --budget 8s --max-write 128MB --json >"$scratch/$point.json" || [[ $? == 4 ]]
    "$narrows" why latest --json >"$scratch/$point.why.json" || [[ $? == 4 ]]
    python3 - "$scratch/$point.json" "$scratch/$point.why.json" "$point" <<'PYTHON'
import json, sys

check, why, point = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), sys.argv[3]
said = [check["limit"]] + check["limits"] + [why["limit"]] + why["causes"]
for one in said:
    assert one["layer"] != "device", f"{point}: {one}"
    assert "the device" not in one["statement"], f"{point}: {one}"
print(f"ok: {point}: {len(said)} statements of what limits it, none of a device")
PYTHON
done

bdi=/sys/class/bdi/$(awk -v point="$scratch/user" '$5 == point { print $3 }' /proc/self/mountinfo)/read_ahead_kb
before=$(cat "$bdi")
"$narrows" settings list "$scratch/user" --json >"$scratch/settings.json"
python3 - "$scratch/settings.json" "$bdi" "$before" <<'PYTHON'
import json, sys

settings = {s["name"]: s["values"] for s in json.load(open(sys.argv[1]))["settings"]}
assert [(v["path"], v["now"]) for v in settings["read-ahead"]] == [(sys.argv[2], sys.argv[3])], settings.get("read-ahead")
print("ok: read-ahead of a file system without a block device is listed by its own number")
PYTHON
"$narrows" compare --repeat 2 "mix $scratch/user" --with read-ahead=128,1024 --set access=buffered --set region=64MiB --set time=1s \
    >"$scratch/compared" 2>&1 || [[ $? -le 4 ]]
grep -q "read-ahead" "$scratch/compared" || { cat "$scratch/compared"; exit 1; }
[[ $(cat "$bdi") == "$before" ]] || { echo "read-ahead is $(cat "$bdi") and was $before"; exit 1; }
echo "ok: compare tried two windows of it and restored $before"
