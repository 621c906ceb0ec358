#!/usr/bin/env bash
# Requests of a loop device while fio makes a known number of them, and the calls of real programs beside what strace says of them: recorded, and
# done again. Needs root, fio, strace, tracefs and a loop device that this script makes; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
export NARROWS_ARCHIVE=$scratch/archive
loop=

clean_up() {
    [[ -z $loop ]] || losetup --detach "$loop" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

needs fio strace tar
truncate -s 128M "$scratch/image"
loop=$(losetup --find --show "$scratch/image" 2>/dev/null) || cannot "no loop device can be made here"
[[ -d /sys/kernel/tracing/instances ]] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || true
[[ -d /sys/kernel/tracing/instances || -d /sys/kernel/debug/tracing/instances ]] || cannot "there is no tracefs"

# 1,000 requests of 4 KiB and one of 64 KiB, in a shell's order.
"$narrows" trace -o "$scratch/disk.trace" --device "$loop" -- sh -c "
    fio --name=a --filename=$loop --rw=randwrite --bs=4k --size=64M --number_ios=1000 --direct=1 --ioengine=psync --output=$scratch/fio &&
    dd if=$loop of=/dev/null bs=64k count=1 iflag=direct 2>/dev/null" 2>"$scratch/err" || fail "the recording of requests"
writes=$(awk '$6 == "Q" && $7 ~ /W/ && $10 == 8' "$scratch/disk.trace" | wc -l)
[[ $writes -eq 1000 ]] || fail "$writes of 1000 writes are in the recording"
awk '$7 ~ /R/ && $8 == 0 && $10 == 128 && $11 == "[dd]"' "$scratch/disk.trace" | grep -q . || fail "the read of dd is not in the recording"
"$narrows" run "$scratch/disk.trace" "$scratch" --set speed=max --json >"$scratch/answer" 2>"$scratch/err" || [[ $? -eq 4 ]] || fail "the replay of requests"
find /sys/kernel/tracing/instances /sys/kernel/debug/tracing/instances -name 'narrows-*' 2>/dev/null | grep . && fail "an instance of tracefs is left"

# The same work by our recorder and by strace: the same calls, to be done again.
mkdir "$scratch/work"
cp -r /usr/share/doc/fio /usr/share/doc/strace "$scratch/work"
cd "$scratch/work"
work='tar cf x.tar fio strace && mkdir out && tar xf x.tar -C out && mv out/fio out/moved && find out -type f | wc -l && rm -r out x.tar'
"$narrows" trace -o "$scratch/ours.trace" --root "$scratch/work" -- sh -c "$work" >/dev/null 2>"$scratch/err" || fail "the recording of calls"
strace -f -ttt -T -o "$scratch/theirs.strace" sh -c "$work" >/dev/null 2>"$scratch/err" || fail "strace"
told() {
    "$narrows" run "$1" "$scratch" --set root="$scratch/work" --set outside=skip --set speed=max --json 2>"$scratch/err" >"$scratch/answer" || [[ $? -eq 4 ]] || fail "the replay of $1"
    grep -q '"errors": {}' "$scratch/answer" || fail "calls of $1 failed when they were made again"
    sed -n '/"replay_calls": {/,/}/p; /"replay_bytes": \[/,/\]/p; /"replay_before": \[/,/\]/p' "$scratch/answer"
}
told "$scratch/ours.trace" >"$scratch/ours"
told "$scratch/theirs.strace" >"$scratch/theirs"
grep -q '"rename": 1' "$scratch/ours" || fail "no rename was recorded"
diff "$scratch/ours" "$scratch/theirs" >&2 || fail "we recorded other calls than strace"
find "$scratch" -maxdepth 1 -name '.narrows-files*' | grep . && fail "files of ours are left"
echo "requests of a disk and calls on files are recorded and done again"
