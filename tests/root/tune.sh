#!/usr/bin/env bash
# Alone: it changes settings of the machine.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: what it would do changes nothing; after Ctrl-C and after SIGKILL with
# `settings restore` all is as it was; `--resume` continues; a second search at the same time is refused. That it finds the setting is in tests/trials/tune-finds.sh.
# Needs root, a free loop device and python3; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

. "$(dirname "$0")/../slow-read-ahead"

# What it would do changes nothing.
"$narrows" tune "$device" --for buffered-read --budget 3m --plan --json >"$scratch/out" 2>"$scratch/err" || fail "--plan ended with $?"
[[ $(asked '[c["name"] for c in d["candidates"] if c["values"]][0]') == read-ahead ]] || fail "read-ahead is not tried first"
[[ $(asked 'd["bytes_at_most"]') == 0 ]] || fail "a search that reads is said to write"
same "after --plan"

# Too little time to prove anything is said before it starts.
status=0
"$narrows" tune "$device" --for buffered-read --budget 10s >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq 2 ]] && grep -q 'too short to prove anything' "$scratch/err" || fail "10 s: it ended with $status"

newest_state() { find "$NARROWS_ARCHIVE/tune" -name '*.json' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-; }

# Ctrl-C, while another value is in force; a second search meanwhile.
begin() {
    "$narrows" tune "$device" --for buffered-read --only read-ahead --budget 70s >"$scratch/out" 2>"$scratch/err" &
    child=$!
    for _ in $(seq 600); do
        if [[ $(cat "$queue/read_ahead_kb") != 4 ]]; then return; fi
        kill -0 "$child" 2>/dev/null || fail "it ended before a value was in force"
        sleep 0.05
    done
    fail "no other value came into force"
}
begin
status=0
"$narrows" tune "$device" --for buffered-read --only read-ahead --budget 3m >"$scratch/answer" 2>&1 || status=$?
[[ $status -eq 3 ]] && grep -q 'another search' "$scratch/answer" || fail "a second search ended with $status"
printf 'refused: a second search\n'
kill -INT "$child"
status=0
wait "$child" || status=$?
child=
[[ $status -eq 130 ]] || fail "after Ctrl-C it ended with $status"
grep -q 'all settings are as they were' "$scratch/err" || fail "it does not say that all is restored"
same "after Ctrl-C"
printf 'restored: after Ctrl-C\n'

begin
for _ in $(seq 600); do
    if [[ -n $(newest_state 2>/dev/null) ]]; then break; fi
    sleep 0.05
done
kill -KILL "$child"
wait "$child" 2>/dev/null || true
child=
"$narrows" settings restore >"$scratch/out" 2>"$scratch/err" || fail "settings restore ended with $?"
same "after SIGKILL and settings restore"
printf 'restored: after SIGKILL\n'

# It continues where it was: the measurements that were made are not made again.
made=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["values"]))' "$(newest_state)")
"$narrows" tune --resume --json >"$scratch/out" 2>"$scratch/err" || fail "--resume ended with $?"
[[ $(asked 'd["id"]') == $(basename "$(newest_state)" .json) ]] || fail "--resume made another search"
cells=$(asked 'd["cells"]')
[[ $cells -gt $made ]] || fail "$made measurements before, and $cells in all"
same "after --resume"
status=0
NARROWS_ARCHIVE=$scratch/other "$narrows" tune --resume >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq 2 ]] && grep -q 'no search was left unfinished' "$scratch/err" || fail "--resume in an empty archive ended with $status"
printf 'resumed: %s measurements before, %s in all\n' "$made" "$cells"
echo "ok"
