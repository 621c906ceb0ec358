#!/usr/bin/env bash
# Alone: it measures a known rate.
# The lab's card server against clients that are not ours: libnbd, QEMU and fio. XTASK is the binary of cargo xtask. Needs
# nbdinfo and nbdcopy (libnbd-bin), qemu-img and qemu-io (qemu-utils), fio with its nbd engine, and python3.
set -euo pipefail
NARROWS=${NARROWS:-unused}
. "$(dirname "$0")/../preamble"

xtask=${XTASK:?the path of the binary xtask}
scratch=$(mktemp -d)
server=
cleanup() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    rm -rf "$scratch"
}
trap cleanup EXIT

for program in nbdinfo nbdcopy qemu-img qemu-io fio python3; do
    command -v "$program" >/dev/null || cannot "there is no $program (Debian: libnbd-bin, qemu-utils, fio, python3)"
done
fio --enghelp | grep -qw nbd || cannot "this fio was built without libnbd"

socket=$scratch/socket
uri="nbd+unix:///?socket=$socket"

# Starts a server of the card that is on standard input.
insert() {
    cat >"$scratch/card.toml"
    "$xtask" lab card "$scratch/card.toml" --socket "$socket" --summary "$scratch/summary.json" "$@" 2>"$scratch/log" &
    server=$!
    for _ in {1..100}; do
        if [[ -S $socket ]]; then return; fi
        kill -0 "$server" 2>/dev/null || fail "$(cat "$scratch/log")"
        sleep 0.1
    done
    fail "the card server does not listen"
}
# Ends it; what the card did is in summary.json.
remove() {
    kill "$server"
    wait "$server" || fail "the server ended with $?: $(cat "$scratch/log")"
    server=
    [[ ! -e $socket ]] || fail "the socket was left behind"
}
io() {
    qemu-io -f raw "$uri" "$@"
}
# What python makes of the summary.
says() {
    python3 -c "import json, sys; s = json.load(open('$scratch/summary.json')); sys.exit(0 if ($1) else 1)" ||
        fail "the summary does not say $1: $(cat "$scratch/summary.json")"
}

echo "== what nbdinfo hears"
insert <<'TOML'
title = "a card that all may see"
source = "invented"
capacity = "256MiB"
[read]
rate = "1GB/s"
[write]
rate = "1GB/s"
erase-block = "4MiB"
[commands]
trim = false
TOML
nbdinfo --json "$uri" >"$scratch/info.json"
nbdinfo --list "$uri" >/dev/null
python3 - "$scratch/info.json" <<'PYTHON'
import json, sys

export = json.load(open(sys.argv[1]))["exports"][0]
expected = {"export-size": 256 << 20, "description": "a card that all may see", "can_flush": True, "can_fua": True,
    "can_trim": False, "can_zero": True, "can_multi_conn": True, "is_read_only": False, "block_size_minimum": 512,
    "block_size_preferred": 4096, "block_size_maximum": 32 << 20}
bad = {k: (export[k], v) for k, v in expected.items() if export[k] != v}
sys.exit(f"FAILED: {bad}" if bad else 0)
PYTHON
if nbdinfo "nbd+unix:///other?socket=$socket" 2>"$scratch/refused"; then fail "there is no export 'other'"; fi
grep -q "for export: other" "$scratch/refused" || fail "$(cat "$scratch/refused")"

echo "== what qemu-io and nbdcopy write comes back"
io -c "write -P 0xa5 1M 3M" -c "write -f -P 0x5a 2M 512" -c "write -z 3M 4k" -c flush -c "read -P 0xa5 1M 1M" \
    -c "read -P 0x5a 2M 512" -c "read -P 0 3M 4k" -c "read -P 0 128M 1M" | grep -i fail && fail "qemu-io"
head -c 64M /dev/urandom >"$scratch/data"
truncate -s 256M "$scratch/data"
# Four connections at once, 64 requests in flight.
nbdcopy --connections=4 --requests=16 "$scratch/data" "$uri"
nbdcopy "$uri" "$scratch/back"
cmp "$scratch/data" "$scratch/back"
qemu-img compare -f raw -F raw "$scratch/data" "$uri" >/dev/null || fail "qemu-img finds another content"
remove
says "s['trims'] == 0 and s['injected']['lost_sectors'] == 0 and s['damaged'] == {}"

echo "== what fio measures is what the card was told"
cat >"$scratch/class4" <<'TOML'
title = "30 ms for each write that continues nothing, 4 MB/s, two open streams"
source = "invented"
capacity = "256MiB"
[read]
rate = "20MB/s"
points = [{ bytes = "4KiB", time = "1ms" }]
[write]
rate = "4MB/s"
points = [{ bytes = "4KiB", time = "30ms" }]
open-streams = 2
erase-block = "4MiB"
TOML
measure() {
    local name=$1
    shift
    fio --name="$name" --ioengine=nbd --uri="$uri" --size=256M --time_based --runtime=4 --randrepeat=1 "$@" \
        --output-format=json --output="$scratch/$name.json" 2>"$scratch/fio.log" ||
        fail "fio: $(cat "$scratch/fio.log")"
}
as_told() {
    trap '[[ -z $server ]] || kill "$server"' EXIT
    insert <"$scratch/class4"
    measure random-write --rw=randwrite --bs=4k
    measure random-write-ahead --rw=randwrite --bs=4k --iodepth=8
    measure random-read --rw=randread --bs=4k
    measure stream-write --rw=write --bs=64k
    measure stream-write-sectors --rw=write --bs=512
    measure stream-read --rw=read --bs=256k
    measure two-streams --rw=write --bs=4k --numjobs=2 --offset_increment=100M --group_reporting
    measure three-streams --rw=write --bs=4k --numjobs=3 --offset_increment=80M --group_reporting
    remove
    python3 - "$scratch" <<'PYTHON'
import json, sys

bad = []

def check(name, direction, key, expected, tolerance, slower=None):
    """Within the tolerance; `slower`: how much less a busy machine may make of it."""
    text = open(f"{sys.argv[1]}/{name}.json").read()
    # fio writes notes ahead of its JSON.
    job = json.loads(text[text.index("{"):])["jobs"][0][direction]
    ok = -(slower or tolerance) <= job[key] / expected - 1 <= tolerance
    print(f"  {name:22} {key:9} {job[key]:12.1f}   the card {expected:12.1f}   {'' if ok else 'DIFFERS'}")
    if not ok:
        bad.append(name)

# Never faster than the card; a busy machine adds its own time to what each waits for, and none where requests are ahead.
check("random-write", "write", "iops", 1000 / 30, 0.05, slower=0.2)
check("random-write-ahead", "write", "iops", 1000 / 30, 0.05)
check("random-read", "read", "iops", 1000, 0.05, slower=0.5)
check("stream-write", "write", "bw_bytes", 4e6, 0.05, slower=0.4)
# In pieces of 512 bytes, as an emulated SD card hands them on: 128 us each, about what a turn takes on a busy machine.
check("stream-write-sectors", "write", "bw_bytes", 4e6, 0.05, slower=0.7)
check("stream-read", "read", "bw_bytes", 20e6, 0.05, slower=0.4)
check("two-streams", "write", "bw_bytes", 4e6, 0.05, slower=0.4)
# Each of three closes the one that is wanted next: 30 ms for 4 KiB.
check("three-streams", "write", "iops", 1000 / 30, 0.1)
sys.exit(f"FAILED: {', '.join(bad)}" if bad else 0)
PYTHON
}
thrice as_told

echo "== the damage that a reader finds is the damage that the server lists"
insert --seed 7 <<'TOML'
title = "a card that loses and spoils"
source = "invented"
capacity = "64MiB"
[read]
rate = "1GB/s"
[write]
rate = "1GB/s"
erase-block = "4MiB"
[[fault]]
kind = "lost-write"
chance = 0.01
[[fault]]
kind = "corrupt-write"
chance = 0.01
TOML
head -c 64M /dev/urandom >"$scratch/data"
nbdcopy "$scratch/data" "$uri"
nbdcopy "$uri" "$scratch/back"
remove
python3 - "$scratch" <<'PYTHON'
import json, sys

wrote, found = (open(f"{sys.argv[1]}/{name}", "rb").read() for name in ("data", "back"))
differ = {str(i // 512) for i in range(0, len(wrote), 512) if wrote[i:i + 512] != found[i:i + 512]}
damaged = json.load(open(f"{sys.argv[1]}/summary.json"))["damaged"]
print(f"  {len(differ)} sectors differ, {len(damaged)} are listed")
sys.exit(0 if differ == set(damaged) and {"lost", "corrupt"} == set(damaged.values()) else "FAILED: they are not the same")
PYTHON

echo "== errors, a worn card and a fake one"
insert <<'TOML'
title = "a bad card"
source = "invented"
capacity = "64MiB"
[read]
rate = "1GB/s"
[write]
rate = "1GB/s"
erase-block = "4MiB"
[[fault]]
kind = "read-error"
sector = 2048
[[fault]]
kind = "write-error"
sector = 4096
[wear]
read-only-after = "20MiB"
[fake]
real-capacity = "16MiB"
beyond = "wrap"
TOML
# qemu-io ends with 1 where a request fails; what counts is how it failed.
said() {
    local wanted=$1
    shift
    io "$@" >"$scratch/said" 2>&1 || true
    grep -q "$wanted" "$scratch/said"
}
said "Input/output error" -c "read 1M 512" || fail "the bad sector was read: $(cat "$scratch/said")"
said "Input/output error" -c "write 2M 512" || fail "the bad sector was written: $(cat "$scratch/said")"
# What is written behind the true end is found at the beginning.
said "wrote" -c "write -P 1 0 512k" -c "write -P 2 16M 512k"
said "Pattern verification failed" -c "read -P 2 0 512k" && fail "the card is not as small as it is"
for part in 3 4 5 6 7 8; do said "wrote" -c "write -P $part 8M 4M" || true; done
said "Operation not permitted" -c "write -P 4 0 512" || fail "a worn card took a write: $(cat "$scratch/said")"
said "bytes" -c "read -P 2 0 512k" || fail "a worn card is not read: $(cat "$scratch/said")"
remove
says "s['injected']['read_errors'] == 1 and s['injected']['write_errors'] >= 1 and s['injected']['worn_out_refusals'] >= 1"
