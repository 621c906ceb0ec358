#!/usr/bin/env bash
# Alone: it changes settings of the machine.
# `narrows tune` on a loop device whose read-ahead was set to 4 KiB: what it would do changes nothing; after Ctrl-C and after SIGKILL with
# `settings restore` all is as it was; one that was killed goes on with --resume; a second search at the same time is refused; --verify says
# whether what is kept is in effect, and which file overwrote it. That it finds the setting is in tests/trials/tune-finds.sh.
# Needs root, a free loop device, mkfs.ext4, mkfs.btrfs, mkfs.xfs and python3; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

needs mkfs.ext4 mkfs.btrfs mkfs.xfs
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

# What is kept: a file as --keep writes it (that it does is a test of the program), without waiting for a search to prove something.
rules=/etc/udev/rules.d
own=$rules/99-narrows-tune.rules
later=$rules/99-zz-narrows-test.rules
[[ ! -e $own && ! -e $later ]] || cannot "$own is there"
missing=$rules
while [[ ! -e $(dirname "$missing") ]]; do missing=$(dirname "$missing"); done
[[ ! -e $rules ]] || missing=
remove_rules() {
    rm -f "$own" "$later"
    if [[ -n $missing ]]; then find "$missing" -type d -empty -delete 2>/dev/null || true; fi
}
trap 'remove_rules; clean_up' EXIT
# verified CODE ARGUMENTS...: what --verify says, with this exit code.
verified() {
    local code=$1 status=0
    shift
    "$narrows" tune --verify "$@" --json >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq $code ]] || fail "--verify $* ended with $status, not $code"
}
verified 3
[[ $(asked 'd["kind"]') == environment ]] || fail "nothing is kept, and it does not say so"
mkdir -p "$rules"
condition="ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", KERNEL==\"${device#/dev/}\""
cat >"$own" <<RULES
# Written by narrows tune, search tune-test; narrows tune --undo-kept removes it.
# {"for":"buffered-read","search":"tune-test","settings":[{"from":"4","name":"read-ahead","path":"$queue/read_ahead_kb","to":"1024"}],"target":"$device"}
$condition, ATTR{queue/read_ahead_kb}="1024"
RULES
verified 1 --plan
[[ $(asked '[(s["name"], s["now"], s["kept"], s["in_effect"]) for s in d["settings"]]') == "[('read-ahead', '4', '1024', False)]" ]] ||
    fail "it does not see that the kept value is not in effect"
printf '%s\n' "$condition, ATTR{queue/read_ahead_kb}=\"4\"" >"$later"
verified 1
[[ $(asked 'd["settings"][0]["set_by"][0]["by"]') == "$later:1" ]] || fail "it does not name the later rule"
[[ $(asked 'd["trials"][0]["gain"]') == None ]] || fail "what is not in effect is measured"
rm "$later"
printf 1024 >"$queue/read_ahead_kb"
verified 0 --plan
[[ $(asked 'd["met"], d["trials"]') == "(True, [])" ]] || fail "it measures with --plan"
# A disturbed machine may show anything but that nothing was measured; what was kept is in force afterwards.
status=0
"$narrows" tune --verify --budget 40s --json >"$scratch/out" 2>"$scratch/err" || status=$?
[[ $status -eq $(asked '0 if d["met"] else 1') ]] || fail "--verify ended with $status"
[[ $(asked 'd["trials"][0]["gain"]["pairs"] >= 6 or d["trials"][0]["why_not"]') == True ]] || fail "no pairs are made"
[[ $(cat "$queue/read_ahead_kb") == 1024 ]] || fail "it left $(cat "$queue/read_ahead_kb") and not what was kept"
printf 'verified: %s\n' "$(asked 'd["answer"]')"
# Another target, and one that is not there.
"$narrows" tune --verify "$scratch" --for buffered-read --json >"$scratch/out" 2>"$scratch/err" || fail "another target: $?"
[[ $(asked '"does not lie on" in d["trials"][0]["why_not"]') == True ]] || fail "another target's disk is measured"
"$narrows" tune --verify /nowhere --json >"$scratch/out" 2>"$scratch/err" || fail "a target that is not there: $?"
[[ $(asked '"/nowhere" in d["trials"][0]["why_not"]') == True ]] || fail "it does not say that there is no such target"
"$narrows" tune --undo-kept >"$scratch/answer" || fail "--undo-kept ended with $?"
[[ ! -e $own ]] || fail "--undo-kept leaves its file"
verified 3
printf 4 >"$queue/read_ahead_kb"
same "after --undo-kept"
printf 'verified: what is kept, overwritten and taken back\n'

# Options of a mount are settings like others: tried, measured, and as they were afterwards, after SIGKILL too.
fallocate -l 2G "$scratch/mounted-image"
mkfs.ext4 -q -F "$scratch/mounted-image"
mkdir "$scratch/mounted"
mount -o loop,sync "$scratch/mounted-image" "$scratch/mounted"
trap 'umount "$scratch/mounted" 2>/dev/null || true; remove_rules; clean_up' EXIT
options() { sed -n "s|^[^ ]* $scratch/mounted [^ ]* \([^ ]*\) .*|\1|p" /proc/mounts; }
held=$(options)
[[ $held == *sync* ]] || fail "the mount is not synchronous: $held"
cell=("$narrows" tune "$scratch/mounted" --for buffered-write --only mount-sync,mount-atime --budget 80s)
"${cell[@]}" --plan --json >"$scratch/out" 2>"$scratch/err" || fail "--plan ended with $?"
[[ $(asked '{c["name"]: (c["now"], c["values"], (c["not_tried"] or {}).get("reason")) for c in d["candidates"] if c["name"] in ("mount-sync", "mount-atime")}') == \
    "{'mount-atime': ('relatime', ['noatime', 'strictatime'], None), 'mount-sync': ('sync', [], 'unsafe')}" ]] ||
    fail "options of the mount are not as they should be: $(asked 'd["candidates"]')"
"${cell[@]}" --allow-unsafe >"$scratch/out" 2>"$scratch/err" &
child=$!
changed() { [[ $(options) != "$held" ]]; }
until_so 60 changed || fail "no other option came into force"
kill -KILL "$child"
wait "$child" 2>/dev/null || true
child=
"$narrows" settings restore >"$scratch/out" 2>"$scratch/err" || fail "settings restore ended with $?"
[[ $(options) == "$held" ]] || fail "after SIGKILL it is mounted with $(options), not $held"
# Whether that is proven depends on the machine; that it was set and measured does not.
"${cell[@]}" --allow-unsafe --json >"$scratch/out" 2>"$scratch/err" || fail "the search ended with $?: $(tail -3 "$scratch/err")"
[[ $(options) == "$held" ]] || fail "it is mounted with $(options), not $held"
[[ $(asked 'any(t["measurements"] > 0 and t["settings"] == [{"name": "mount-sync", "value": "async"}] for t in d["tried"])') == True ]] ||
    fail "mount-sync was not measured"
[[ $(asked 'd["winner"] is None or all(k["mechanism"] == "fstab" for k in d["winner"]["keep"])') == True ]] || fail "it is not kept by fstab"
printf 'mount options: %s\n' "$(asked 'd["answer"]')"
umount "$scratch/mounted"
# Each value of each option has its way back, on other file systems too: all are applied and restored before the first comparison.
for kind in btrfs xfs; do
    truncate -s 2G "$scratch/$kind-image"
    "mkfs.$kind" -q "$scratch/$kind-image" >"$scratch/answer" 2>&1
    mount -o loop "$scratch/$kind-image" "$scratch/mounted"
    held=$(options)
    names=$("$narrows" settings list "$scratch/mounted" --json |
        python3 -c 'import json, sys; print(*[s["name"] for s in json.load(sys.stdin)["settings"] if s["name"].startswith("mount-") and s["values"][0]["candidates"]], sep=",")')
    [[ $names == *mount-atime*mount-lazytime* ]] || fail "$kind has the options $names"
    timeout --signal=INT 15 "$narrows" tune "$scratch/mounted" --for sync-write --only "$names" --allow-unsafe --budget 100s \
        >"$scratch/out" 2>"$scratch/err" || true
    ! grep -q 'still changed' "$scratch/out" "$scratch/err" || fail "$kind: $(grep -h 'still changed' "$scratch/out" "$scratch/err")"
    grep -q '^narrows: 1 of ' "$scratch/err" || fail "$kind: it did not come as far as its search: $(tail -2 "$scratch/err")"
    [[ $(options) == "$held" ]] || fail "$kind is mounted with $(options), not $held"
    umount "$scratch/mounted"
done
echo "ok"
