#!/usr/bin/env bash
# `narrows runs merge HOST:PATH` with a real server of OpenSSH on this machine: 104 runs (more than one command fetches) with their tags come
# once, what is new later comes alone, and a link that the other side put in the place of a bundle's file brings nothing. Needs root, sshd.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(in_memory 200000000)
server=
clean_up() {
    if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT
ssh_server board
export NARROWS_ARCHIVE=$scratch/own
there=$scratch/there

made() { "$narrows" --archive "$there" run --rw randread --bs 4k --runtime 1 --size 16m --tag "$1" "sim:nvme,seed=$2" --json >"$scratch/out"; }
merged() {
    local code=0
    "$narrows" runs merge "board:$there" --json >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code -eq $1 ]] || fail "it ended with $code"
    grep -q "$2" "$scratch/out" || fail "not said: $2"
}

status=0
"$narrows" runs merge "board:$there" >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq 3 ]] && grep -q 'must work without a question' "$scratch/err" || fail "without a server: ended with $status"
serve_ssh
for i in {1..104}; do made nightly "$i"; done
merged 0 '104 added, 0 already here, 0 not taken'
[[ $("$narrows" runs list --tag nightly --json | grep -o '"id"' | wc -l) -eq 104 ]] || fail "not all came with their tag"
"$narrows" runs verify --json >"$scratch/out" || fail "a run is not what it was"
made later 105
merged 0 '1 added, 104 already here, 0 not taken'

made linked 106
bundle=$("$narrows" --archive "$there" runs path latest)
echo secret >"$scratch/secret"
rm "$bundle/series.csv"
ln -s "$scratch/secret" "$bundle/series.csv"
merged 1 '0 added, 105 already here, 1 not taken'
! grep -rq secret "$scratch/own" || fail "what a link named is in the archive"
echo "104 runs by ssh, one more, and none of a link"
