#!/usr/bin/env bash
# A soak of a file on a FUSE file system that loses, tears, misdirects, rots, wraps, and fails an fsync late: each is found with
# its class and nowhere else, and nothing is found where nothing is wrong. Needs root, /dev/fuse, a C compiler and libfuse 3;
# NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
server=

clean_up() {
    if [[ -n $server ]]; then
        umount "$scratch/mnt" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap clean_up EXIT

[[ -e /dev/fuse ]] || cannot "there is no /dev/fuse"
needs cc python3
[[ -e /usr/include/fuse3/fuse.h ]] || cannot "there is no libfuse 3 to build with"
cc -O2 -Wall -Wextra -I/usr/include/fuse3 "$here/fuse/faulty.c" -lfuse3 -o "$scratch/faulty" 2>"$scratch/err" || fail "cc"
mkdir "$scratch/mnt"
export NARROWS_ARCHIVE=$scratch/archive

# soaked FAULT NTH STATUS FINDINGS: 32 MiB, two passes of 512 writes of 64 KiB; FINDINGS is Python on `found`, the classes of each
# place by their sector, and `answer`.
soaked() {
    local fault=$1 nth=$2 wanted=$3 findings=$4 status=0
    "$scratch/faulty" "$scratch/mnt" 32 "$fault" "$nth" &
    server=$!
    for _ in $(seq 100); do
        if [[ -e $scratch/mnt/data ]]; then break; fi
        sleep 0.1
    done
    "$narrows" soak "$scratch/mnt/data" --overwrite --passes 2 --json >"$scratch/answer" 2>"$scratch/err" || status=$?
    umount "$scratch/mnt"
    wait "$server"
    server=
    [[ $status -eq $wanted ]] || fail "$fault at $nth: ended with $status, not $wanted"
    python3 - "$scratch/answer" "$findings" <<'PY' || fail "$fault at $nth: not $findings"
import json, sys
answer = json.load(open(sys.argv[1]))
found = [(f["class"], f["lba"], f["sectors"]) for f in answer["findings"]]
sys.exit(not (answer["passes"] == 2 and answer["bytes_verified"] > 0 and eval(sys.argv[2])))
PY
    printf '%-12s at %4s: as it must be\n' "$fault" "$nth"
}

soaked none 1 0 'not found and not answer["errors"] and answer["clean"]'
soaked lost 100 1 'len(found) == 1 and found[0][0] == "lost-write" and found[0][2] == 128'
soaked lost 700 1 'len(found) == 1 and found[0][0] == "lost-write" and answer["findings"][0]["found_generation"] == 1'
soaked torn 700 1 'len(found) == 1 and found[0][0] == "torn-write" and found[0][2] == 64'
# The last write of all: nothing comes after it and hides where it went.
soaked misdirected 1024 1 'len(found) == 1 and found[0][0] == "misdirected-write" and found[0][2] == 128'
soaked rot 700 1 'len(found) == 1 and found[0][0] == "bit-rot" and found[0][2] == 1'
soaked wrap 1 1 'found == [("wrap-around", 32768, 32768)]'
# The first lap is gone, and its fsync said so.
soaked fsync 1 1 '{f[0] for f in found} == {"late-error"} and sum(f[2] for f in found) == 32768 and answer["errors"] == {"EIO": 1}'
echo ok
