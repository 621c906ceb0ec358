#!/usr/bin/env bash
# A soak whose promises are kept on another machine by ssh, too: a real server on this one. Killed, resumed from there; a
# connection that is cut is made again; a server that is not there is an error before anything is written. Needs root, sshd.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
server= soak=

clean_up() {
    for pid in $soak $server; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$scratch"
}
trap clean_up EXIT

ssh_server witness
mkdir "$scratch/data"
export NARROWS_ARCHIVE=$scratch/archive

heard() {
    until_so 60 grep -q "$1" "$scratch/err" || fail "never said: $1"
}

there="witness:$scratch/it's there"
status=0
"$narrows" soak "$scratch/data" --size 32MiB --witness "$there" >"$scratch/answer" 2>"$scratch/err" || status=$?
[[ $status -eq 3 ]] || fail "without a server: ended with $status"
grep -q 'ssh-copy-id' "$scratch/err" || fail "without a server: no remedy"
[[ -z $(ls "$scratch/data") ]] || fail "without a server something was made"

serve_ssh
"$narrows" soak "$scratch/data" --size 32MiB --for 10m --rate 40MB --witness "$there" >"$scratch/answer" 2>"$scratch/err" &
soak=$!
heard 'pass 2, lap 1'
# All connections are cut; it comes back to where it was.
sessions=$(pgrep -P "$server" | tr '\n' ' ')
kill "$server"
for pid in $sessions; do kill -KILL "$pid" $(pgrep -P "$pid") 2>/dev/null || true; done
wait "$server" 2>/dev/null || true
heard 'the soak waits for it'
serve_ssh
heard 'is there again'
kill -KILL "$soak"
wait "$soak" 2>/dev/null || true
soak=
# The disk with the archive is gone, too.
rm -r "$scratch/archive"
"$narrows" soak --resume --passes 1 --witness "$there" --json >"$scratch/answer" 2>"$scratch/err" || fail "it does not go on"
grep -q '"clean": true' "$scratch/answer" && grep -q '"sessions": 2' "$scratch/answer" || fail "not clean, or another soak"
status=0
"$narrows" soak --resume --witness "$there" >"$scratch/answer" 2>"$scratch/err" || status=$?
[[ $status -eq 2 ]] || fail "a finished soak goes on: $status"
echo ok
