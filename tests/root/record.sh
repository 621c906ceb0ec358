#!/usr/bin/env bash
# Alone: it measures a known rate.
# `narrows record` on loop devices: named by --destroy, capped to a known rate with stalls in between, failing half-way; and ffmpeg at
# both ends, with the recorder killed in the middle. Needs root, free loop devices, ffmpeg and fio; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(in_memory 700000000)
export NARROWS_ARCHIVE=$scratch/archive
devices=()
group=
small=

clean_up() {
    if [[ -n $group && -d $group ]]; then rmdir "$group" || true; fi
    for device in "${devices[@]}"; do losetup --detach "$device" || true; done
    if [[ -n $small ]]; then umount -l "$small" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

needs fio ffmpeg ffprobe python3

# loop IMAGE: a loop device of it, in $device.
loop() {
    device=$(losetup --find --show "$1" 2>"$scratch/err") || cannot "no loop device can be made: $(head -1 "$scratch/err")"
    devices+=("$device")
}

# says EXPRESSION: the document in $scratch/out is so; it is d.
says() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not (eval(sys.argv[2])))' "$scratch/out" "$1" ||
        fail "not so: $1"
}

# record CODE ARGUMENT...: ends with this exit code.
record() {
    local wanted=$1 code=0
    shift
    "$narrows" record --json "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
    [[ $code -eq $wanted ]] || fail "record $*: exit code $code and not $wanted"
}

# A device is named by what it is, or nothing is written.
truncate -s 256M "$scratch/image"
loop "$scratch/image"
name=${device#/dev/}
record 3 -o "$device" --generate 1x10KB@100 --frames 10
says '"--destroy" in d["message"] + (d["remedy"] or "")'
record 3 -o "$device" --destroy other --generate 1x10KB@100 --frames 10
cmp -n 268435456 "$scratch/image" /dev/zero || fail "something was written that nobody allowed"
record 0 -o "$device" --destroy "$name" --generate 2x100KB@100 --frames 50 --when-full wrap
says 'all(s["durable"] == 50 for s in d["streams"])'
record 0 -o "$device" --destroy "$name" --generate 2x100KB@100 --frames 30
says 'd["epoch"] == 2'
record 0 --verify -o "$device"
says 'd["checked"]["frames"] == 160 and d["recordings"] == 2 and not d["checked"]["damage"]'
printf 'ok: a device is recorded to by its name, resumed, and read\n'

# A part of it is pinned while it is recorded to, by the same name, without --destroy: only a superblock that was read is written over.
"$narrows" record -o "$device" --destroy "$name" --generate 2x200KB@100 --for 14s --json >"$scratch/live" 2>&1 </dev/null &
recorder=$!
sleep 3
record 0 --pin --last 500ms -o "$device"
says 'len(d["pinned"]) == 1 and 1 <= d["pinned"][0]["segments"] <= 4'
wait "$recorder" || fail "the recorder that was to keep something: $(head -c 500 "$scratch/live")"
record 0 --verify -o "$device"
says 'd["recordings"] == 3 and not d["checked"]["damage"] and d["pinned"][0]["segments"] >= 1'
# The ring went round, and what is there begins with what is pinned, of whichever camera.
says 'd["checked"]["frames"] < 2 * 100 * 14 and d["pinned"][0]["first"] == min(s["first"] for s in d["streams"])'
record 0 --export raw --stream camera-1 --from "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pinned"][0]["first"])' \
    "$scratch/out")" --into "$scratch/kept" -o "$device"
says 'd["exported"]["frames"] > 10 and d["exported"]["unreadable"] == 0'
record 0 --unpin -o "$device"
says 'not d["pinned"]'
printf 'ok: what is pinned of a device while it is recorded to stays\n'

# What a recorder's metrics say that it acknowledged; nothing until there are some.
durable() { { cat "$scratch/metrics" 2>/dev/null || true; } | awk '/^narrows_record_frames_durable_total/ { n = int($2) } END { print n + 0 }'; }
frames_durable() { [[ $(durable) -ge $1 ]]; }

# A storage of known rate: 95 % of it is recorded without a loss, and so are stalls that the ring holds.
blkio=$(awk '$3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/ { print $2; exit }' /proc/mounts)
if [[ -n $blkio ]] && mkdir "$blkio/narrows-record-$$" 2>/dev/null; then
    group=$blkio/narrows-record-$$
    number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
    cap() { printf '%s %s\n' "$number" "$1" >"$group/blkio.throttle.write_bps_device"; }
    capped() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }
    cap 40000000
    at_its_rate() {
        local rate frame recorder
        cap 40000000
        capped fio --name=w --filename="$device" --rw=write --bs=1M --iodepth=8 --ioengine=libaio --direct=1 --size=200M \
            --time_based --runtime=8 --output-format=json >"$scratch/out" 2>"$scratch/err" || fail "fio ended with $?"
        rate=$(python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["jobs"][0]["write"]["bw_bytes"]))' "$scratch/out")
        # Two cameras at 25 pictures a second; heads and padding are written with them.
        frame=$((rate * 95 / 100 / 50))
        capped "$narrows" record --json -o "$device" --destroy "$name" --new --when-full wrap --generate "2x${frame}@25" --for 10s \
            >"$scratch/out" 2>"$scratch/err" </dev/null || fail "95 % of $rate B/s: frames were lost"
        says 'all(not s["dropped"] and s["in_flight"] == 0 for s in d["streams"])'
        printf 'ok: 95 %% of the %s bytes a second that fio says, without a loss\n' "$rate"
        # Four stalls of a second each, at half of the rate, with a ring that holds two seconds.
        frame=$((rate / 2 / 50))
        capped "$narrows" record --json -o "$device" --destroy "$name" --new --when-full wrap --generate "2x${frame}@25" --for 14s --ring "$rate" \
            >"$scratch/out" 2>"$scratch/err" </dev/null &
        recorder=$!
        for _ in 1 2 3 4; do
            sleep 2
            cap 100000
            sleep 1
            cap 40000000
        done
        wait "$recorder" || fail "stalls of a second: frames were lost"
        says 'all(not s["dropped"] for s in d["streams"]) and d["ring_most_bytes"] > 10_000_000 and d["ack_ns_max"] > 900_000_000'
        printf 'ok: stalls of a second cost memory and no frame\n'
    }
    thrice at_its_rate
    # The others in a group are slowed on this disk while it records, and have what they had before when it ends, or is killed.
    printf '%s 0\n' "$number" >"$group/blkio.throttle.write_bps_device"
    printf '%s 90000000\n' "$number" >"$group/blkio.throttle.read_bps_device"
    limits() { cat "$group/blkio.throttle.write_bps_device" "$group/blkio.throttle.read_bps_device"; }
    before=$(limits)
    limited() {
        rm -f "$scratch/metrics"
        exec "$narrows" record --json -o "$device" --destroy "$name" --new --when-full wrap --generate 1x100KB@20 --for "$1" \
            --metrics "$scratch/metrics" --limit "$group=write:5MB,read:4MB" >"$scratch/out" 2>"$scratch/err" </dev/null
    }
    # flood: bytes a second that a writer of the group has in two seconds.
    flood() {
        capped fio --name=w --filename="$device" --offset=128M --size=64M --rw=write --bs=64k --ioengine=psync --direct=1 --time_based --runtime=2 \
            --output-format=json >"$scratch/flood" 2>"$scratch/err" || fail "fio ended with $?"
        python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["jobs"][0]["write"]["bw_bytes"]))' "$scratch/flood"
    }
    are() { [[ $(limits) == "$1" ]]; }
    set=$(printf '%s 5000000\n%s 4000000' "$number" "$number")
    free=$(flood)
    limited 12s &
    recorder=$!
    until_so 10 are "$set" || fail "limits that were not set: $(limits)"
    slowed=$(flood)
    wait "$recorder" || fail "a recording with limits ended with $?"
    [[ $(limits) == "$before" ]] || fail "not what was there before: $(limits)"
    [[ $slowed -lt 6000000 && $free -gt 12000000 ]] || fail "a group that may write 5 MB/s wrote $slowed, and $free without a limit"
    says 'sorted((l["limit"], l["in_effect"], l["put_back"]) for l in d["limits"] if l["device"] == "'"$number"'") == [("read", True, True), ("write", True, True)]'
    limited 60s &
    recorder=$!
    until_so 10 are "$set" || fail "limits that were not set: $(limits)"
    kill -9 "$recorder"
    wait "$recorder" 2>/dev/null || true
    until_so 10 are "$before" || fail "limits are left behind by a recorder that was killed: $(limits)"
    limited 60s &
    recorder=$!
    until_so 10 are "$set" || fail "limits that were not set: $(limits)"
    # A recording that ends before its first frame ends with exit code 4.
    until_so 30 frames_durable 1 || fail "nothing is recorded"
    kill -INT "$recorder"
    wait "$recorder" || fail "ended by Ctrl-C: exit code $?"
    [[ $(limits) == "$before" ]] || fail "Ctrl-C: not what was there before: $(limits)"
    printf 'ok: a group writes %s bytes a second while it is limited, %s before, and has its old limits after the end, Ctrl-C and SIGKILL\n' \
        "$slowed" "$free"
    rmdir "$group"
    group=
else
    printf 'SKIPPED: a storage of known rate: no blkio control groups of version 1\n'
fi

# A storage that fails half-way: what is below it is full. What was acknowledged is there, and the rest is said to be lost.
small=$scratch/small
mkdir "$small"
mount -t tmpfs -o size=64m none "$small"
truncate -s 256M "$small/image"
loop "$small/image"
record 1 -o "$device" --destroy "${device#/dev/}" --generate 1x200KB@200 --for 20s
says 'd["ended_by"] == "storage" and d["streams"][0]["durable"] > 50 and d["streams"][0]["in_flight"] == 0'
says 'd["streams"][0]["received"] == d["streams"][0]["durable"] + d["streams"][0]["dropped"]["storage"] + d["streams"][0]["dropped"].get("ring-full", 0)'
durable=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["streams"][0]["durable"])' "$scratch/out")
record 0 --verify -o "$device"
says "d['checked']['frames'] + d['checked']['unacknowledged'] >= $durable"
printf 'ok: of a storage that fails half-way %s frames were acknowledged, and are there\n' "$durable"

# ffmpeg at both ends, and the recorder killed.
mkfifo "$scratch/camera"
rm -f "$scratch/metrics"
ffmpeg -v error -re -f lavfi -i testsrc=size=640x480:rate=30 -t 20 -c:v mjpeg -f mjpeg -y "$scratch/camera" </dev/null 2>/dev/null &
ffmpeg=$!
"$narrows" record -o "$scratch/cam.nrec" --size 64MB --max-latency 100ms --metrics "$scratch/metrics" front="$scratch/camera" \
    >/dev/null 2>&1 </dev/null &
recorder=$!
until_so 20 frames_durable 150 || fail "five seconds of a camera are not recorded"
acknowledged=$(durable)
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
kill "$ffmpeg" 2>/dev/null || true
wait "$ffmpeg" 2>/dev/null || true
record 0 --recover -o "$scratch/cam.nrec"
record 0 --export mkv -o "$scratch/cam.nrec" --into "$scratch/front.mkv"
frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$scratch/front.mkv" | tr -d ', ')
[[ $frames -ge $acknowledged ]] || fail "$acknowledged frames were acknowledged, ffprobe plays $frames"
ffmpeg -v error -xerror -i "$scratch/front.mkv" -f null - 2>"$scratch/err" </dev/null || fail "ffmpeg does not plays front.mkv"
seconds=$(ffprobe -v error -show_entries packet=pts_time -of csv=p=0 "$scratch/front.mkv" | tr -d ',' | tail -1)
awk -v s="$seconds" -v n="$frames" 'BEGIN { exit !(s > n / 30 * 0.7 && s < n / 30 * 1.3) }' ||
    fail "$frames frames of a camera of 30 a second take $seconds s"
printf 'ok: killed at %s acknowledged frames, %s are there, and ffmpeg plays them (%s s)\n' "$acknowledged" "$frames" "$seconds"
