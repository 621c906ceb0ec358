#!/usr/bin/env bash
# Our widest routine against the C library's memcpy on DRAM, alternating in one run, and what the rates are. Not one of the checks: a rate of
# the wall clock says nothing on a machine that does something else, too.
#
#     tests/trials/copies.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=${1:-5}
narrows=${NARROWS:-target/release/narrows}
[[ -x $narrows ]] || { echo "no $narrows: cargo build --release, or say NARROWS=" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

{
    printf 'name = "copies"\ntitle = "memcpy beside ours"\nanswers = "Is our widest copy as fast as memcpy?"\ninterval = "10ms"\n'
    printf '[defaults]\nblock-size = "1MiB"\ntime = "500ms"\n'
    for ((round = 1; round <= rounds; round++)); do
        for copy in memcpy burst streaming; do
            printf '[[phase]]\nname = "%s-%s"\ncopy = "%s"\n' "$copy" "$round" "$copy"
        done
    done
} >"$scratch/copies.toml"

"$narrows" run "$scratch/copies.toml" memory: --json --archive "$scratch/archive" >"$scratch/run.json"
python3 - "$scratch/run.json" <<'PYTHON'
import collections, json, statistics, sys
rates = collections.defaultdict(list)
for phase in json.load(open(sys.argv[1]))["phases"]:
    for metric in phase["metrics"]:
        if metric["id"].endswith(".throughput_bytes_per_s") and metric["value"]:
            rates[phase["name"].rsplit("-", 1)[0]].append(metric["value"])
middle = {way: statistics.median(values) for way, values in rates.items()}
for way, rate in middle.items():
    print(f"{way:10} {rate / 1e9:6.2f} GB/s, {min(rates[way]) / 1e9:.2f} to {max(rates[way]) / 1e9:.2f}, {rate / middle['memcpy']:.3f} of memcpy")
PYTHON
