#!/usr/bin/env bash
# The pages in a real browser: headless Chromium loads them 1280 and 390 px wide, light and dark, and measures the boxes of all
# text (pages.py has what counts as a fault). NARROWS is the binary; SHOTS, if given, a directory for pictures of them.
set -euo pipefail
. "$(dirname "$0")/../preamble"

here=$(dirname "${BASH_SOURCE[0]}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
shots=${SHOTS:--}

needs python3
chromium=
for name in chromium chromium-browser google-chrome; do
    if [[ -z $chromium ]] && command -v "$name" >/dev/null; then chromium=$(command -v "$name"); fi
done
[[ -n $chromium ]] || cannot "there is no chromium (Debian: chromium)"

# First that faults are found: a page with each of them, made on purpose.
cat >"$scratch/faulty.html" <<'HTML'
<!DOCTYPE html><html><head><style>body{background:#fff;color:#000;margin:8px}</style></head><body>
<p style="margin:0">The first text</p><p style="margin:-12px 0 40px">lies under the second</p>
<p style="color:#aaa">Hardly to be seen</p><div style="width:1500px">Wider than the window</div>
<svg width="100" height="30"><text x="80" y="20">123 456</text></svg>
<svg width="100" height="30"><circle cx="2" cy="10" r="5"></circle></svg>
<svg width="100" height="30"><text class="tick" x="10" y="20">500</text></svg>
<canvas id="c" width="100" height="40"></canvas>
<details><summary>fold</summary><p style="margin:0">Unfolded text</p><p style="margin:-20px 0 0">on another one</p></details>
<div style="height:900px"></div>
<script>const g = c.getContext("2d"); g.fillText("half of it", 85, 20); undefinedFunction();</script></body></html>
HTML
status=0
python3 "$here/pages.py" "$chromium" - "$scratch/faulty.html=1" >"$scratch/log" 2>&1 || status=$?
if [[ $status -eq 77 ]]; then
    cat "$scratch/log"
    exit 77
fi
[[ $status -eq 1 ]] || fail "a page full of faults ended with $status"
for fault in "overlap: 'The first text' and 'lies under" "faint: " "sideways: 1508 px on 1280" "sideways: 1508 px on 390" \
    "cut off: '123 456'" "cut off: a dot" "no unit: '500'" "cut off: 'half of it' on a canvas" "too long: 1." "script: " \
    "unfolded: overlap: "; do
    grep -qF "$fault" "$scratch/log" || fail "this fault is not found: $fault"
done
echo "faults made on purpose: all found"

export NARROWS_ARCHIVE="$scratch/archive"
run() { "$narrows" "$@" >"$scratch/log" 2>&1 || fail "ended with $?: narrows $*"; }

# Simulated devices: the same pages on every machine, in moments.
run check sim:class4-card --seed 1 --report "$scratch/check-card.html"
run check sim:nvme --seed 1 --report "$scratch/check-nvme.html"
run run sweep sim:nvme --report "$scratch/sweep.html"
run run depth sim:nvme --report "$scratch/depth.html"
run run kdiskmark sim:nvme --report "$scratch/kdiskmark.html"
run run steady sim:nvme --report "$scratch/steady.html"
run run mix sim:nvme --report "$scratch/mix.html"
run runs
mapfile -t ids < <(cd "$scratch/archive/runs" && ls -d [0-9]*)
[[ ${#ids[@]} -eq 7 ]] || fail "there are ${#ids[@]} runs, not 7"
run compare "${ids[0]}" "${ids[1]}" -o "$scratch/compare.html"
run report "${ids[0]}" "${ids[3]}" -o "$scratch/several.html"
for seed in 1 2 3; do
    for card in class4-card sata-ssd nvme; do
        run check "sim:$card" --seed "$seed" --tag "$card"
        run run mix "sim:$card" --seed "$seed" --tag "$card"
    done
done
run rank class4-card sata-ssd nvme -o "$scratch/rank.html"
# A table of `watch` with two disks and the processors, ten seconds long.
{
    echo "time,layer,kind,since_boot,interval_s,reads_per_s,writes_per_s,read_bytes_per_s,write_bytes_per_s,await_ns,queue,util_percent,cpu_user_percent,cpu_system_percent,cpu_iowait_percent"
    for second in 0 1 2 3 4 5 6 7 8 9; do
        for disk in nvme0n1 sda; do
            n=$((second * 37 % 11 + ${#disk}))
            echo "2026-01-01T00:00:0${second}Z,$disk,disk,$((second == 0)),1,$((n * 900)),$((n * 311)),$((n * 45678901)),$((n * 7654321)),$((n * 120000)),$n,$((n * 5)),$n,$((n * 2)),$((n * 3))"
        done
    done
} >"$scratch/watch.csv"
run import "$scratch/watch.csv" --tag watched
run report watched -o "$scratch/watched.html"

# Pages that are read first are short: at most so many screens of 1280x800, and sheets of paper, before anything is unfolded.
echo "in $("$chromium" --version 2>/dev/null)"
python3 "$here/pages.py" "$chromium" "$shots" "$scratch/check-card.html=4,3" "$scratch/check-nvme.html=4,3" "$scratch/sweep.html=3,3" \
    "$scratch/depth.html=3,3" "$scratch/kdiskmark.html=3,3" "$scratch/steady.html=3,3" "$scratch/mix.html=3,3" \
    "$scratch/compare.html=4,4" "$scratch/several.html" "$scratch/rank.html=4,4" "$scratch/watched.html=3,3"
