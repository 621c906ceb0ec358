#!/usr/bin/env bash
# Our copies against the C library's memcpy and a copy as STREAM's, on DRAM, alternating. Not one of the checks: a rate says nothing
# on a machine that does something else, too. Rates are bytes over the processor time that the copy got, so that waiting for a
# processor is not in them (what others do to caches and memory meanwhile is); what is said is ratios within a round.
#
#     tests/trials/copies.sh [ROUNDS]
#
# Each round is a run of narrows (memcpy, ours, and loops over vectors, on buffers of 64 MiB or four times the last-level cache) with a C
# program between: STREAM's Copy (McCalpin), a loop over doubles that the compiler vectorises and may not turn into memcpy; and, on x86,
# the same with stores past the caches, as STREAM is built for its records.
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
#include <sys/mman.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void copy(double *restrict c, const double *restrict a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

#ifdef __SSE2__
#include <emmintrin.h>
__attribute__((noinline)) static void copy_past_caches(double *restrict c, const double *restrict a, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        _mm_stream_pd(c + i, _mm_load_pd(a + i));
    _mm_sfence();
}
#else
#define copy_past_caches copy
#endif

int main(int count, char **arguments)
{
    void (*const ways[2])(double *restrict, const double *restrict, size_t) = {copy, copy_past_caches};
    size_t bytes = strtoull(arguments[1], 0, 0), n = bytes / sizeof(double);
    double *a = aligned_alloc(2 << 20, bytes), *c = aligned_alloc(2 << 20, bytes), begun, took;
    unsigned passes;

    if (count < 2 || !a || !c)
        return 1;
    /* As ours are, where they can be had. */
    madvise(a, bytes, MADV_HUGEPAGE);
    madvise(c, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < n; i++)
        a[i] = i, c[i] = 0;
    for (int way = 0; way < 2; way++) {
        begun = now();
        passes = 0;
        do {
            ways[way](c, a, n);
            passes++;
            took = now() - begun;
        } while (took < 0.2);
        printf("%.0f\n", bytes * passes / took);
    }
    return c[n - 1] != n - 1;
}
C
cc -O3 -march=native -fno-tree-loop-distribute-patterns -o "$scratch/stream" "$scratch/stream.c"

{
    printf 'name = "copies"\ntitle = "memcpy beside ours"\nanswers = "Is our widest copy as fast as memcpy?"\ninterval = "10ms"\n'
    printf '[defaults]\nblock-size = "1MiB"\ntime = "400ms"\n'
    printf '[[phase]]\nname = "copy-{copy}"\nsweep = { copy = ["memcpy", "burst", "streaming", "repeat", "16", "32", "64"] }\n'
} >"$scratch/copies.toml"
cache=$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2>/dev/null | sed 's/K$//' | sort -n | tail -n 1)
bytes=$((${cache:-0} * 4096 > 67108864 ? ${cache:-0} * 4096 : 67108864))

for ((round = 1; round <= rounds; round++)); do
    "$narrows" run "$scratch/copies.toml" memory: --json --archive "$scratch/$round" >/dev/null
    "$scratch/stream" "$bytes" >"$scratch/stream-$round"
done
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), last-level cache ${cache:-?} KiB, load $(cut -d' ' -f1-3 /proc/loadavg), $(date -u +%F)"
python3 - "$scratch" "$rounds" <<'PYTHON'
import collections, glob, json, statistics, sys
directory, rounds = sys.argv[1], int(sys.argv[2])
rates, ratios = collections.defaultdict(list), collections.defaultdict(list)
for round in range(1, rounds + 1):
    of = dict(zip(("STREAM", "STREAM past caches"), map(float, open(f"{directory}/stream-{round}").read().split())))
    for phase in json.load(open(*glob.glob(f"{directory}/{round}/runs/*/run.json")))["phases"]:
        if record := phase["record"]:
            processor_ns = record["usage"]["user_ns"] + record["usage"]["system_ns"]
            of[phase["plan"]["name"].removeprefix("copy-")] = record["bytes"] / processor_ns * 1e9
    best = max(of[way] for way in ("memcpy", "STREAM", "STREAM past caches"))
    for way, rate in of.items():
        rates[way].append(rate)
        ratios[way].append(rate / best)
for way in rates:
    rate, ratio = statistics.median(rates[way]), statistics.median(ratios[way])
    print(f"{way:18} {rate / 1e9:6.2f} GB/s, {ratio:.3f} of the best of memcpy and STREAM ({min(ratios[way]):.3f} to {max(ratios[way]):.3f})")
PYTHON
