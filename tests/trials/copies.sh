#!/usr/bin/env bash
# Our copies against the C library's memcpy and a copy as STREAM's, on DRAM, alternating. Not one of the checks: a rate of the wall
# clock says nothing on a machine that does something else, too. What is said is ratios within a round.
#
#     tests/trials/copies.sh [ROUNDS]
#
# Each round is a run of narrows (memcpy, ours, and loops over vectors, on buffers of 64 MiB or four times the last-level cache) with a C
# program between: STREAM's Copy (McCalpin), a loop over doubles that the compiler vectorises and may not turn into memcpy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=${1:-5}
narrows=${NARROWS:-target/release/narrows}
[[ -x $narrows ]] || { echo "no $narrows: cargo build --release, or say NARROWS=" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/stream.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void copy(double *restrict c, const double *restrict a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

int main(int count, char **arguments)
{
    size_t bytes = strtoull(arguments[1], 0, 0), n = bytes / sizeof(double);
    double *a = aligned_alloc(4096, bytes), *c = aligned_alloc(4096, bytes), begun, took;
    unsigned passes = 0;

    if (count < 2 || !a || !c)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = i, c[i] = 0;
    begun = now();
    do {
        copy(c, a, n);
        passes++;
        took = now() - begun;
    } while (took < 0.5);
    printf("%.0f\n", bytes * passes / took);
    return c[n - 1] != n - 1;
}
C
cc -O3 -march=native -fno-tree-loop-distribute-patterns -o "$scratch/stream" "$scratch/stream.c"

{
    printf 'name = "copies"\ntitle = "memcpy beside ours"\nanswers = "Is our widest copy as fast as memcpy?"\ninterval = "10ms"\n'
    printf '[defaults]\nblock-size = "1MiB"\ntime = "500ms"\n'
    printf '[[phase]]\nname = "copy-{copy}"\nsweep = { copy = ["memcpy", "burst", "streaming", "repeat", "16", "32", "64"] }\n'
} >"$scratch/copies.toml"
cache=$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2>/dev/null | sed 's/K$//' | sort -n | tail -n 1)
bytes=$((${cache:-0} * 4096 > 67108864 ? ${cache:-0} * 4096 : 67108864))

for ((round = 1; round <= rounds; round++)); do
    "$narrows" run "$scratch/copies.toml" memory: --json --archive "$scratch/archive" >"$scratch/run-$round.json"
    "$scratch/stream" "$bytes" >"$scratch/stream-$round"
done
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), last-level cache ${cache:-?} KiB, load $(cut -d' ' -f1-3 /proc/loadavg), $(date -u +%F)"
python3 - "$scratch" "$rounds" <<'PYTHON'
import collections, json, statistics, sys
directory, rounds = sys.argv[1], int(sys.argv[2])
rates, ratios = collections.defaultdict(list), collections.defaultdict(list)
for round in range(1, rounds + 1):
    of = {"STREAM": float(open(f"{directory}/stream-{round}").read())}
    for phase in json.load(open(f"{directory}/run-{round}.json"))["phases"]:
        for metric in phase["metrics"]:
            if metric["id"].endswith(".throughput_bytes_per_s") and metric["value"]:
                of[phase["name"].removeprefix("copy-")] = metric["value"]
    best = max(of[way] for way in ("memcpy", "STREAM"))
    for way, rate in of.items():
        rates[way].append(rate)
        ratios[way].append(rate / best)
for way in rates:
    rate, ratio = statistics.median(rates[way]), statistics.median(ratios[way])
    print(f"{way:10} {rate / 1e9:6.2f} GB/s, {ratio:.3f} of the better of memcpy and STREAM ({min(ratios[way]):.3f} to {max(ratios[way]):.3f})")
PYTHON
