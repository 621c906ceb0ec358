#!/usr/bin/env bash
# Alone: it waits for what a slow machine may do later.
# A device that does not answer: a loop device whose file lies in a frozen file system. The first signal must say at once what
# is waited for and how to leave, the second must leave at once. Needs root, two free loop devices, ext4 and fsfreeze; NARROWS
# is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
outer=
inner=
frozen=
job=

clean_up() {
    if [[ -n $frozen ]]; then fsfreeze --unfreeze "$scratch/mount" || true; fi
    if [[ -n $job ]]; then kill -KILL "$job" 2>/dev/null || true; wait "$job" 2>/dev/null || true; fi
    if [[ -n $inner ]]; then losetup --detach "$inner" || true; fi
    # What hung is written first.
    for _ in $(seq 50); do
        if ! mountpoint -q "$scratch/mount" || umount "$scratch/mount" 2>/dev/null; then break; fi
        sleep 0.1
    done
    if [[ -n $outer ]]; then losetup --detach "$outer" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

needs fsfreeze
command -v mkfs.ext4 >/dev/null || cannot "there is no mkfs.ext4"
export NARROWS_ARCHIVE=$scratch/archive
mkdir "$scratch/mount"
truncate --size 256M "$scratch/outer"
mkfs.ext4 -q "$scratch/outer"
outer=$(losetup --find --show "$scratch/outer" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
mount "$outer" "$scratch/mount" 2>"$scratch/err" || cannot "no ext4 can be mounted here: $(head -1 "$scratch/err")"
# Without blocks of its own: what is written needs the file system, which is frozen.
truncate --size 128M "$scratch/mount/inner"
inner=$(losetup --find --show "$scratch/mount/inner")

cat >"$scratch/direct.toml" <<'TEXT'
name = "hang"
[[phase]]
name = "short"
operation = "write"
access = "direct"
region = "4MiB"
block-size = "64KiB"
[[phase]]
name = "hang"
operation = "write"
order = "random"
access = "direct"
depth = 4
region = "64MiB"
block-size = "64KiB"
iops = "50"
time = "120s"
TEXT
sed -e 's/access = "direct"/access = "buffered"\nfsync-every = 1/' -e 's/depth = 4/depth = 1/' \
    "$scratch/direct.toml" >"$scratch/buffered.toml"

gone() { [[ ! -e /proc/$job ]] || grep -q '^State:.Z' "/proc/$job/status"; }
second_phase() { grep -qs '"stop": "region-done"' "$scratch"/archive/runs/.*.partial/run.json; }
said() { grep -q "waiting for [0-9]* writes\\? in flight on $inner since [0-9]* s; a second Ctrl-C leaves at once" "$scratch/err"; }

# hang NAME: it runs, the device hangs, it is asked to end.
hang() {
    rm -rf "$scratch/archive"
    "$narrows" run "$scratch/$1.toml" "$inner" --destroy "$(basename "$inner")" >"$scratch/out" 2>"$scratch/err" &
    job=$!
    until_so 60 second_phase || fail "$1: its first phase never ended"
    sleep 1
    fsfreeze --freeze "$scratch/mount"
    frozen=1
    sleep 4
    kill -INT "$job"
    until_so 10 said || fail "$1: it does not say what it waits for"
    grep -qE 'since ([3-9]|1[0-9]) s' "$scratch/err" || fail "$1: it does not know since when the device pauses"
    kill -INT "$job"
}

echo "operations of a ring"
hang direct
until_so 10 gone || fail "the second signal did not end it"
status=0
wait "$job" || status=$?
job=
[[ $status -eq 130 ]] || fail "it ended with $status"
fsfreeze --unfreeze "$scratch/mount"
frozen=

echo "a call that does not come back"
hang buffered
# The kernel keeps a thread that waits in a call; when the call comes back the program is gone.
fsfreeze --unfreeze "$scratch/mount"
frozen=
until_so 10 gone || fail "the second signal did not end it"
status=0
wait "$job" || status=$?
job=
[[ $status -eq 130 ]] || fail "it ended with $status"

# What hung is written now; the device is free again.
"$narrows" runs recover >"$scratch/out" 2>"$scratch/err" || fail "what was measured cannot be recovered"
echo "done"
