#!/usr/bin/env bash
# What `narrows export` writes, read by other people's tools from PyPI: fio-plot draws from the fio JSON and the fio logs,
# hdrhistogram reads the HdrHistogram log. NARROWS is the binary; VENV is where the tools are installed, and stay.
set -euo pipefail
. "$(dirname "$0")/../preamble"

venv=${VENV:?a directory for the Python tools}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Later versions may draw differently; these are known to read what fio 3.33 writes.
tools=(fio-plot==1.1.21 hdrhistogram==0.10.8)

python_tools "$venv" "${tools[@]}"

run() { "$@" >"$scratch/log" 2>&1 || fail "ended with $?: $*"; }

# draw NAME ARGUMENT...: fio-plot makes a picture from the exported directory.
draw() {
    local name=$1
    shift
    echo "fio-plot: $name"
    MPLCONFIGDIR="$scratch" run "$venv/bin/fio-plot" -i "$scratch/plots/direct-4k" -T narrows -s ci -o "$scratch/$name.png" "$@"
    # A picture with an empty plot is far smaller.
    [[ $(stat -c %s "$scratch/$name.png") -gt 15000 ]] || fail "$name.png is missing or has no plot in it"
    if [[ -n ${KEEP:-} ]]; then cp "$scratch/$name.png" "$KEEP"; fi
}

# A simulated device: the same numbers on every machine, in a moment.
export NARROWS_ARCHIVE="$scratch/archive"
run "$narrows" check sim:nvme --seed 1
run "$narrows" export latest --format fio-json -o "$scratch/plots/"
run "$narrows" export latest --format fio-logs -o "$scratch/plots/"
run "$narrows" export latest --format hlog -o "$scratch/run.hlog"

draw bars -l -d 1 32 -n 1 -r randread
draw histogram -H -d 32 -n 1 -r randread
draw series -g -d 1 32 -n 1 -r randread -t iops lat bw

echo "hdrhistogram: the log"
run "$venv/bin/python" - "$scratch" <<'PYTHON'
import csv, glob, sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

scratch = sys.argv[1]
expected = {}
for row in csv.DictReader(open(glob.glob(f"{scratch}/archive/runs/*/latency.csv")[0])):
    low, high, count = (int(row[c]) for c in ("bucket_low_ns", "bucket_high_ns", "count"))
    expected.setdefault(row["phase"], []).append((low, high, count))
reader = HistogramLogReader(f"{scratch}/run.hlog", HdrHistogram(1, 2**62, 3))
read = {}
while (histogram := reader.get_next_interval_histogram()) is not None:
    read[histogram.get_tag()] = histogram
assert read and set(read) <= set(expected), (sorted(read), sorted(expected))
for phase, histogram in read.items():
    buckets = expected[phase]
    total = sum(count for _, _, count in buckets)
    assert histogram.get_total_count() == total, (phase, histogram.get_total_count(), total)
    for percentile in (50, 99, 100):
        rank, seen = max(1, -(-total * percentile // 100)), 0
        for low, high, count in buckets:
            seen += count
            if seen >= rank:
                break
        got = histogram.get_value_at_percentile(percentile)
        assert low * 0.99 - 1 <= got <= high * 1.01 + 1, (phase, percentile, low, got, high)
print(f"{len(read)} histograms")
PYTHON
cat "$scratch/log"
