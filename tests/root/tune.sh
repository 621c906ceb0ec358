#!/usr/bin/env bash
# Alone: it changes settings of the machine.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: what it would do changes nothing; after Ctrl-C and after SIGKILL with
# `settings restore` all is as it was; a second search at the same time is refused. That it finds the setting is in tests/trials/tune-finds.sh.
# Needs root, a free loop device and python3; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
export NARROWS_ARCHIVE=$scratch/archive NARROWS_JOURNAL=$scratch/journal
device=
child=

clean_up() {
    if [[ -n $child ]]; then kill -KILL "$child" 2>/dev/null || true; fi
    wait || true
    for _ in $(seq 50); do
        if [[ -z $device ]] || losetup --detach "$device" 2>/dev/null; then break; fi
        sleep 0.2
    done
    rm -rf "$scratch"
}
trap clean_up EXIT

needs python3
head -c 1G /dev/urandom >"$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
queue=/sys/block/${device#/dev/}/queue
printf 4 >"$queue/read_ahead_kb"

# values: what a search may change, a line each.
values() {
    local name
    for name in read_ahead_kb scheduler nr_requests max_sectors_kb nomerges rq_affinity; do
        printf '%s=%s\n' "$name" "$(cat "$queue/$name" 2>/dev/null || echo none)"
    done
    for name in timer_migration; do printf '%s=%s\n' "$name" "$(cat "/proc/sys/kernel/$name")"; done
    cat /sys/kernel/mm/transparent_hugepage/{enabled,defrag} 2>/dev/null || true
}
was=$(values)

# same WHEN: all is as it was.
same() {
    local now
    now=$(values)
    [[ $now == "$was" ]] || fail "$1: it left $(diff <(printf '%s' "$was") <(printf '%s' "$now") | tr '\n' ' ')"
}

# asked PYTHON: an expression over the document d.
asked() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/out" "$1"; }

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
[[ $status -eq 3 ]] && grep -q 'another search\|in use by another check' "$scratch/answer" || fail "a second search ended with $status"
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
echo "ok"
