#!/usr/bin/env bash
# A file system in user mode over an image file: its reads come from the page cache of the machine, and no device below it is known. What such numbers
# say of the storage decides nothing. Needs root, ntfs-3g and /dev/fuse. NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

for tool in ntfs-3g mkfs.ntfs; do command -v "$tool" >/dev/null || cannot "there is no $tool"; done
[[ -c /dev/fuse ]] || cannot "there is no /dev/fuse"

scratch=$(mktemp -d)
clean_up() {
    if mountpoint --quiet "$scratch/mnt"; then umount "$scratch/mnt"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

mkdir "$scratch/mnt"
truncate --size 3G "$scratch/image"
mkfs.ntfs -F -Q -q "$scratch/image" >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
ntfs-3g "$scratch/image" "$scratch/mnt" 2>"$scratch/out" || cannot "ntfs-3g mounts nothing here: $(head -1 "$scratch/out")"

status=0
"$narrows" check "$scratch/mnt" --for root-fs --budget 12s --json --archive "$scratch/archive" >"$scratch/check.json" || status=$?
python3 - "$scratch/check.json" "$status" <<'PYTHON'
import json, sys

check, status = json.load(open(sys.argv[1])), int(sys.argv[2])
answers = {fit["for"]: fit["met"] for fit in check["fit"]}
assert "root-fs" in answers and set(answers.values()) == {None}, answers
assert status == 4, f"not known is exit code 4, and it was {status}"
reads = [m for m in check["metrics"] if m["id"].split(".")[0] in ("seq-read", "rand-read-qd1", "rand-read-qd32")]
rates = [m for m in reads if m["id"].endswith((".iops", ".throughput_bytes_per_s"))]
for metric in rates:
    codes = {reason["code"] for reason in metric["reasons"]}
    assert metric["status"] != "measured" or codes, f"{metric['id']} is measured without a doubt"
print(f"ok: {len(rates)} rates of reads over ntfs-3g are doubted, and nothing is said to be good or bad")
PYTHON
