#!/usr/bin/env bash
# Alone: it changes whether there are huge pages.
# Buffers where memory is short or the pages are not those that were asked for, and a device whose limits change while it is
# measured: the run continues what there is and says so, or one clear refusal. Needs root, a free loop device, and for
# some rows /sys/kernel/mm and a memory controller; what cannot be had is SKIPPED. NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
chmod 755 "$scratch"
thp=/sys/kernel/mm/transparent_hugepage/enabled
thp_before=
group=
device=

clean_up() {
    if [[ -n $thp_before ]]; then echo "$thp_before" >$thp; fi
    if [[ -n $group ]]; then rmdir "$group"; fi
    if [[ -n $device ]]; then losetup --detach "$device"; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

[[ $EUID -eq 0 ]] || cannot "needs root"
head -c 256M /dev/urandom >"$scratch/data"
chmod 666 "$scratch/data"
mkdir "$scratch/archive"
chmod 777 "$scratch/archive"

# job TARGET OPTION...: a job file of a second.
job() {
    local target=$1
    shift
    printf '[j]\nfilename=%s\nsize=256m\nioengine=io_uring\ndirect=1\ntime_based\nruntime=1\n' "$target" >"$scratch/j.fio"
    printf '%s\n' "$@" >>"$scratch/j.fio"
}

# run STATUS [COMMAND...]: runs the job; it must end with this status, or with 4 where 0 is expected: a busy machine makes
# numbers refused, which is right. What the engine had and lacked is in $scratch/engine.
run() {
    local expected=$1 status=0
    shift
    rm -rf "$scratch"/archive/*
    "$@" "$narrows" run "$scratch/j.fio" --json --archive "$scratch/archive" >"$scratch/out" 2>"$scratch/err" || status=$?
    if [[ $expected -eq 0 && $status -eq 4 ]]; then status=0; fi
    [[ $status -eq $expected ]] || fail "$(tr '\n' ' ' <"$scratch/j.fio"): ended with $status instead of $expected"
    cat "$scratch"/archive/runs/*/run.json >"$scratch/engine" 2>/dev/null || true
}

says() { grep -q -- "$1" "$scratch/engine" || fail "the run does not say: $1"; }
refused() { grep -q -- "$1" "$scratch/out" || fail "the refusal does not say: $1"; }

echo "locked memory of 64 KiB"
job "$scratch/data" rw=randread bs=4k iodepth=128
if command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups "$narrows" --version >/dev/null 2>&1; then
    # Root may lock what it likes.
    run 0 prlimit --memlock=65536:65536 setpriv --reuid 65534 --clear-groups
    if grep -q '"io_uring"' "$scratch/engine"; then says 'of 128 registered (ENOMEM), 64 KiB may be locked (ulimit -l)'; fi
else
    echo "SKIPPED: no setpriv, or nobody may not execute $narrows"
fi

echo "reserved huge pages that are not there, of both sizes"
for pages in 2m:2048 1g:1048576; do
    size=${pages%:*}
    if [[ ! -d /sys/kernel/mm/hugepages/hugepages-${pages#*:}kB ]]; then
        echo "SKIPPED: no huge pages of $size"
        continue
    fi
    job "$scratch/data" rw=read bs=1m iodepth=4 mem=mmaphuge hugepage-size=$size
    run 0
    says 'reserved huge pages of .* KiB: ENOMEM .*sysctl vm.nr_hugepages'
done

echo "transparent huge pages forbidden"
if [[ -w $thp ]]; then
    thp_before=$(sed 's/.*\[\(.*\)\].*/\1/' $thp)
    echo never >$thp
    job "$scratch/data" rw=read bs=1m iodepth=8
    run 0
    says "huge pages: 0 of 8388608 bytes: $thp says never"
    echo "$thp_before" >$thp
    thp_before=
else
    echo "SKIPPED: no $thp"
fi

echo "blocks larger than the region"
job "$scratch/data" rw=read bs=1m
sed -i 's/^size=.*/size=512k/' "$scratch/j.fio"
run 3
refused 'a region of 512 KiB holds no block of 1 MiB'

echo "a machine of 512 MB"
if [[ -f /sys/fs/cgroup/cgroup.controllers ]] && grep -qw memory /sys/fs/cgroup/cgroup.subtree_control; then
    group=/sys/fs/cgroup/narrows-$$ limit=memory.max
elif [[ -d /sys/fs/cgroup/memory ]]; then
    group=/sys/fs/cgroup/memory/narrows-$$ limit=memory.limit_in_bytes
fi
if [[ -n $group ]] && mkdir "$group" 2>/dev/null && echo 512M >"$group/$limit"; then
    within() { (echo "$BASHPID" >"$group/cgroup.procs" && exec "$@"); }
    job "$scratch/data" rw=read bs=1m iodepth=128
    run 0 within
    job "$scratch/data" rw=read bs=1m iodepth=1024
    run 3 within
    refused 'needs 1.0 GiB of memory .* MiB are available; use fewer jobs, a smaller depth or smaller blocks'
else
    group=
    echo "SKIPPED: no memory controller"
fi

device=$(losetup --find --show "$scratch/data" 2>"$scratch/err") || cannot "no loop device can be made here: $(head -1 "$scratch/err")"

reads() { awk '{ print $1 }' "/sys/block/${device#/dev/}/stat"; }

# while_it_runs STATUS COMMAND...: the command is executed while the job is, which its reads show.
while_it_runs() {
    local expected=$1 before
    before=$(reads)
    shift
    (until (($(reads) > before + 2000)); do sleep 0.05; done; "$@") &
    run "$expected"
    wait $!
}

echo "another block size while it is measured"
job "$device" rw=randread bs=512 iodepth=8 runtime=3
while_it_runs 4 losetup --sector-size 4096 "$device"
says 'its logical block size changed from 512 to 4096 bytes while the phase ran'
says '"EIO"'
losetup --sector-size 512 "$device"

echo "another largest request while it is measured"
job "$device" rw=read bs=1m iodepth=8 runtime=3
queue=/sys/block/${device#/dev/}/queue
cat "$queue/max_hw_sectors_kb" >"$queue/max_sectors_kb"
while_it_runs 0 sh -c "echo 64 >$queue/max_sectors_kb"
# A loop device keeps it for its next file.
cat "$queue/max_hw_sectors_kb" >"$queue/max_sectors_kb"
says 'its largest request changed from [0-9]* to 65536 bytes while the phase ran'

echo "all as it should be"
