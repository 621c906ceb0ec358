#!/usr/bin/env bash
# Alone: it changes settings of the machine, and measures.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: the search names it, proves the gain, and leaves 4 there. A machine
# whose rates vary by half in seconds proves nothing, rightly: for a quiet one.
# Needs root, a free loop device and python3; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

. "$(dirname "$0")/../slow-read-ahead"

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
    [[ $("$narrows" tune --export | grep -c '"name":"read-ahead"') == 1 ]] || fail "what it proved cannot be handed on"
    printf 'ok: %s\n' "$(asked 'd["answer"]')"
}
thrice found

# The runs of its proof are in the archive, and say the same.
thrice_tags=$(asked '" ".join([d["tags"][0], d["tags"][2]])')
read -r -a tags <<<"$thrice_tags"
"$narrows" compare "${tags[@]}" >"$scratch/answer" 2>&1 || fail "compare of its runs ended with $?"
grep -q better "$scratch/answer" || fail "compare does not say better"
