#!/usr/bin/env bash
# Alone: it changes settings of the machine, and measures.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: the search names it, proves the gain, and leaves 4 there. A machine
# whose rates vary by half in seconds proves nothing, rightly: for a quiet one.
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

# The whole search.
found() {
    "$narrows" tune "$device" --for buffered-read --budget 3m --json >"$scratch/out" 2>"$scratch/err" || fail "it ended with $?"
    same "after the search"
    [[ $(asked '[s["name"] for s in d["winner"]["settings"]] if d["winner"] else d["answer"]') == "['read-ahead']" ]] ||
        fail "it names $(asked '[s["name"] for s in d["winner"]["settings"]] if d["winner"] else d["answer"]')"
    [[ $(asked 'd["winner"]["settings"][0]["from"]') == 4 ]] || fail "it does not say what was there"
    [[ $(asked 'd["winner"]["gain"]["low"] > 1 and d["winner"]["gain"]["p"] <= 0.05 and d["winner"]["gain"]["pairs"] >= 6') == True ]] ||
        fail "the gain is not shown"
    [[ $(asked 'd["winner"]["keep"][0]["mechanism"]') == udev ]] || fail "it does not say how to keep it"
    printf 'ok: %s\n' "$(asked 'd["answer"]')"
}
thrice found

# The runs of its proof are in the archive, and say the same.
thrice_tags=$(asked '" ".join([d["tags"][0], d["tags"][2]])')
read -r -a tags <<<"$thrice_tags"
"$narrows" compare "${tags[@]}" >"$scratch/answer" 2>&1 || fail "compare of its runs ended with $?"
grep -q better "$scratch/answer" || fail "compare does not say better"
