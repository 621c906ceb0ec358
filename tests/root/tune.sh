#!/usr/bin/env bash
# Alone: it changes settings of the machine.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: what it would do changes nothing; after Ctrl-C and after SIGKILL with
# `settings restore` all is as it was; one that was killed goes on with --resume; a second search at the same time is refused. That it finds the setting is in tests/trials/tune-finds.sh.
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

# Ctrl-C, while another value is in force; a second search meanwhile.
begin() {
    "$narrows" tune "$device" --for buffered-read --only read-ahead --budget 3m >"$scratch/out" 2>"$scratch/err" &
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
kill -KILL "$child"
wait "$child" 2>/dev/null || true
child=
"$narrows" settings restore >"$scratch/out" 2>"$scratch/err" || fail "settings restore ended with $?"
same "after SIGKILL and settings restore"
printf 'restored: after SIGKILL\n'

# One that was killed goes on where it was: what was measured is not measured again.
rm -rf "$NARROWS_ARCHIVE"
"$narrows" tune "$device" --for buffered-read --only read-ahead --budget 1m >"$scratch/out" 2>"$scratch/err" &
child=$!
measured() {
    python3 - "$NARROWS_ARCHIVE"/tune/*.json <<'PYTHON'
import json, sys
state = json.load(open(sys.argv[1]))
print(state["id"], json.dumps(state["values"]), sep="\n")
PYTHON
}
three_measured() { [[ $(measured 2>/dev/null | tail -1 | grep -o measured | wc -l) -ge 3 ]]; }
until_so 60 three_measured || fail "no state with three values is kept"
kill -KILL "$child"
wait "$child" 2>/dev/null || true
child=
measured >"$scratch/before"
"$narrows" tune --resume --json >"$scratch/out" 2>"$scratch/err" || fail "--resume ended with $?"
same "after --resume"
measured >"$scratch/after"
[[ $(asked 'd["id"]') == $(head -1 "$scratch/before") ]] || fail "another search was made"
before=$(tail -1 "$scratch/before")
[[ $(tail -1 "$scratch/after") == "${before%]}"* ]] || fail "values that were measured are others now"
status=0
"$narrows" tune --resume >"$scratch/answer" 2>&1 || status=$?
[[ $status -eq 2 ]] && grep -q 'left unfinished' "$scratch/answer" || fail "a search that has ended is resumed: $status"
printf 'resumed: %s\n' "$(asked 'd["answer"]')"
echo "ok"
