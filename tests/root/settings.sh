#!/usr/bin/env bash
# Alone: it changes settings of the machine.
# Settings that clear or reset one another, on the real /proc/sys and /sys: after an experiment, and after one that was killed, every
# value is as it was. Two Ctrl-C put them back while the storage hangs. A journal of another user is not obeyed by root.
# Needs root, a free loop device and, for what hangs, mkfs.ext4 and fsfreeze; NARROWS is the binary. What it changes of this machine
# it changes back itself, whatever the program does.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
export NARROWS_ARCHIVE=$scratch/archive NARROWS_JOURNAL=$scratch/journal
device=
frozen=
vm=/proc/sys/vm

# Of twins the one that counts; a 0 cannot be written to all of them.
pairs=(dirty_ratio:dirty_bytes dirty_background_ratio:dirty_background_bytes overcommit_ratio:overcommit_kbytes)
before=()
for pair in "${pairs[@]}"; do
    for name in "${pair%:*}" "${pair#*:}"; do
        value=$(cat "$vm/$name")
        if [[ $value != 0 ]]; then before+=("$name=$value"); fi
    done
done

clean_up() {
    local setting
    if [[ -n $frozen ]]; then fsfreeze --unfreeze "$scratch/mount" || true; fi
    wait || true
    for setting in "${before[@]}"; do printf '%s' "${setting#*=}" >"$vm/${setting%%=*}" || true; done
    # Rings of a program that was ended let go of their files a moment later.
    for _ in $(seq 50); do
        if ! mountpoint --quiet "$scratch/mount" 2>/dev/null || umount "$scratch/mount" 2>/dev/null; then break; fi
        sleep 0.2
    done
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

truncate -s 1G "$scratch/image"
device=$(losetup --find --show "$scratch/image" 2>"$scratch/err") ||
    cannot "no loop device can be made here: $(head -1 "$scratch/err")"
queue=/sys/block/${device#/dev/}/queue

# experiment NAME TARGET LINE...: a text whose second arm has these lines.
experiment() {
    local name=$1 target=$2
    shift 2
    printf '[experiment]\nname = "%s"\npairs = 1\nseed = 1\ntarget = "%s"\n' "$name" "$target"
    printf '[workload]\nname = "short"\n[[workload.phase]]\nname = "read"\noperation = "read"\norder = "random"\n'
    printf 'access = "direct"\nblock-size = "4KiB"\nregion = "16MiB"\ntime = "%s"\n' "${time:-300ms}"
    printf '[[arm]]\nname = "plain"\nset = { time = "300ms" }\n[[arm]]\nname = "changed"\n'
    printf '%s\n' "$@"
}

# values: all that may change, a line each.
values() {
    local pair name
    for pair in "${pairs[@]}"; do
        for name in "${pair%:*}" "${pair#*:}"; do printf '%s=%s\n' "$name" "$(cat "$vm/$name")"; done
    done
    for name in scheduler nr_requests wbt_lat_usec read_ahead_kb max_sectors_kb iosched/read_expire; do
        printf '%s=%s\n' "$name" "$(cat "$queue/$name" 2>/dev/null || echo none)"
    done
}

# round NAME TARGET LINE...: the arm runs, and all values are as they were; the same after it was killed in the arm.
round() {
    local name=$1 status=0 was now child
    was=$(values)
    experiment "$@" >"$scratch/$name.toml"
    "$narrows" run "$scratch/$name.toml" >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq 0 || $status -eq 4 ]] || fail "$name: it ended with $status"
    if grep -q 'still changed\|not restored' "$scratch/err"; then fail "$name: it could not be restored"; fi
    now=$(values)
    [[ $now == "$was" ]] || fail "$name: it left $(diff <(printf '%s' "$was") <(printf '%s' "$now") | tr '\n' ' ')"
    time=60s experiment "$@" >"$scratch/$name.toml"
    "$narrows" run "$scratch/$name.toml" >"$scratch/out" 2>"$scratch/err" &
    child=$!
    for _ in $(seq 600); do
        if [[ $(values) != "$was" ]]; then break; fi
        kill -0 $child 2>/dev/null || fail "$name: it ended before the arm was in force"
        sleep 0.1
    done
    [[ $(values) != "$was" ]] || fail "$name: the arm never came into force"
    kill -KILL $child
    wait $child 2>/dev/null || true
    "$narrows" run --restore >"$scratch/out" 2>"$scratch/err" || fail "$name: run --restore ended with $?"
    now=$(values)
    [[ $now == "$was" ]] || fail "$name: after SIGKILL it left $(diff <(printf '%s' "$was") <(printf '%s' "$now") | tr '\n' ' ')"
    printf 'restored: %s\n' "$name"
}

for pair in "${pairs[@]}"; do
    bytes=${pair#*:} ratio=${pair%:*}
    round "${bytes//_/-}" "$device" "sysctl = { \"vm.$bytes\" = 100000000 }"
    # And where the bytes count before.
    printf 200000000 >"$vm/$bytes"
    round "${ratio//_/-}" "$device" "sysctl = { \"vm.$ratio\" = 30 }"
    round "${bytes//_/-}-again" "$device" "sysctl = { \"vm.$bytes\" = 100000000 }"
    for setting in "${before[@]}"; do printf '%s' "${setting#*=}" >"$vm/${setting%%=*}"; done
done

other() { grep -o '[a-z-]*' "$queue/scheduler" | grep -vx "$1" | head -1; }
first=$(sed 's/.*\[\(.*\)\].*/\1/' "$queue/scheduler")
if [[ -n $(other "$first") ]]; then
    printf 99 >"$queue/nr_requests"
    printf 777 >"$queue/read_ahead_kb" # rounded by the kernel
    for to in $(tr -d '[]' <"$queue/scheduler"); do
        if [[ $to == "$first" ]]; then continue; fi
        round "to-$to" "$device" "values = { \"/sys/block/{disk}/queue/scheduler\" = \"$to\" }"
    done
    # A scheduler with tunables of its own, and one of them other than it comes.
    if printf mq-deadline >"$queue/scheduler" 2>/dev/null; then
        printf 123 >"$queue/iosched/read_expire"
        printf 88 >"$queue/nr_requests"
        round tunables "$device" 'values = { "/sys/block/{disk}/queue/scheduler" = "none", "/sys/block/{disk}/queue/nr_requests" = 64 }'
    fi
    printf '%s' "$first" >"$queue/scheduler"
else
    printf 'SKIPPED: the loop device has one scheduler only\n'
fi

# Journals of other users are not obeyed.
mkdir -p "$scratch/journal" && install -d -m 0700 "$scratch/journal/until-reboot"
chown nobody "$scratch/journal/until-reboot" && chmod 0777 "$scratch/journal/until-reboot"
if "$narrows" run --restore >"$scratch/out" 2>"$scratch/err"; then fail "a directory of another user is trusted"; fi
tr -s '\n ' ' ' <"$scratch/out" | grep -q 'not of this user alone' || fail "it is not said why the directory is refused"
rm -r "$scratch/journal/until-reboot"
printf 'refused: a journal of another user\n'

# Storage that hangs: the first Ctrl-C cannot end the phase, the second puts the settings back.
if command -v mkfs.ext4 >/dev/null && command -v fsfreeze >/dev/null; then
    mkdir "$scratch/mount"
    mkfs.ext4 -q "$device" && mount "$device" "$scratch/mount"
    was=$(values)
    time=60s experiment hangs "$scratch/mount" 'values = { "/sys/block/{disk}/queue/read_ahead_kb" = 64 }' |
        sed 's/operation = "read"/operation = "write"/; s/order = "random"/order = "sequential"/' >"$scratch/hangs.toml"
    sed -i 's/time = "60s"/time = "2s"/' "$scratch/hangs.toml"
    "$narrows" run "$scratch/hangs.toml" >"$scratch/out" 2>"$scratch/err" &
    child=$!
    for _ in $(seq 600); do
        if [[ $(cat "$queue/read_ahead_kb") == 64 ]]; then break; fi
        kill -0 $child 2>/dev/null || fail "it ended before the arm was in force"
        sleep 0.05
    done
    frozen=1
    fsfreeze --freeze "$scratch/mount"
    sleep 0.5
    kill -INT $child
    sleep 1
    [[ $(cat "$queue/read_ahead_kb") == 64 ]] || printf 'the first signal was enough\n'
    kill -INT $child
    for _ in $(seq 100); do
        if [[ $(values) == "$was" ]]; then break; fi
        sleep 0.1
    done
    [[ $(values) == "$was" ]] || fail "the second Ctrl-C did not put the settings back while the storage hung"
    for _ in $(seq 100); do
        if grep -q 'all settings are as they were' "$scratch/err"; then break; fi
        sleep 0.1
    done
    grep -q 'all settings are as they were' "$scratch/err" || fail "it did not say that the settings are back"
    fsfreeze --unfreeze "$scratch/mount"
    frozen=
    status=0
    wait $child || status=$?
    [[ $status -eq 4 ]] || fail "it ended with $status, not with 4"
    [[ -z $(ls -A "$scratch/journal/until-reboot") ]] || fail "a journal stayed"
    printf 'restored: while the storage hung\n'
else
    printf 'SKIPPED: there is no mkfs.ext4 or fsfreeze\n'
fi
