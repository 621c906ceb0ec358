#!/usr/bin/env bash
# Small random job files, carried out by fio and by narrows under strace: offsets, lengths, syncs and the flags of the open file
# must be the same, or where they are drawn, of the same kind (fio-behaviour.py says how each is compared). NARROWS is the binary;
# COUNT jobs (default 40) of SEED (default 1, the same jobs each time; COUNT=300 SEED=$RANDOM for others).
set -euo pipefail
. "$(dirname "$0")/../preamble"

needs fio strace python3
scratch=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$scratch"' EXIT
export NARROWS_ARCHIVE="$scratch/archive"
status=0
python3 "$(dirname "$0")/fio-behaviour.py" "$narrows" "$scratch" "${COUNT:-40}" "${SEED:-1}" || status=$?
[[ $status -ne 77 ]] || cannot "strace is not allowed to trace here"
exit $status
