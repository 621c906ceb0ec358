#!/usr/bin/env bash
# A site of COUNT bundles (1,000 unless given) of COUNT/25 machines: how long it takes and how much memory, that the second time nothing
# is read or written, that of one new bundle only its pages change, how fast `runs list` is with as many, and the pages in headless Chromium,
# 1280 and 390 px wide (pages.py). NARROWS is the binary, and its figures are those of a release build. Needs 2.7 GB per 10,000.
set -euo pipefail
. "$(dirname "$0")/../preamble"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
count=${COUNT:-1000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
needs python3
[[ -x /usr/bin/time ]] || cannot "there is no /usr/bin/time (Debian: time)"

export NARROWS_ARCHIVE=$scratch/templates
for device in sata-ssd nvme a1-card emmc class4-card; do
    "$narrows" check "sim:$device" --json >"$scratch/out"
    "$narrows" run mix "sim:$device" --set time=1s --json >"$scratch/out"
done
python3 "$here/many-bundles.py" "$scratch/templates" "$scratch/fleet" $((count + 1)) $((count / 25))
# One comes later.
late=$(find "$scratch/fleet" -mindepth 3 -maxdepth 3 -path '*/runs/*' | sort | tail -n 1)
mv "$late" "$scratch/late"
export NARROWS_ARCHIVE=$scratch/own

# timed NAME COMMAND...: seconds and MiB in $seconds and $mib.
timed() {
    /usr/bin/time -f '%e %M' -o "$scratch/time" "$@" >"$scratch/out" 2>"$scratch/err" || fail "$* ended with an error"
    read -r seconds kib <"$scratch/time"
    mib=$((kib / 1024))
}
says() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(*[d[k] for k in sys.argv[2:]])' "$scratch/out" "$@"; }

timed "$narrows" site "$scratch/fleet" -o "$scratch/site" --json
[[ $(says runs read) == "$count $count" ]] || fail "not all bundles are counted"
echo "$count bundles: $seconds s, $mib MiB, $(says pages) pages, $(du -sm "$scratch/site" | cut -f1) MB"
[[ $mib -le 256 ]] || fail "it took $mib MiB"
timed "$narrows" site "$scratch/fleet" -o "$scratch/site" --json
[[ $(says read written removed) == "0 0 0" ]] || fail "the second time something was read or written: $(says read written removed)"
echo "again: $seconds s, $mib MiB"
mv "$scratch/late" "$late"
timed "$narrows" site "$scratch/fleet" -o "$scratch/site" --json
[[ $(says read) == 1 ]] || fail "of one new bundle $(says read) were read"
[[ $(says written) -gt 0 && $(says written) -lt $(says pages) ]] || fail "of one new bundle $(says written) of $(says pages) pages were written"
echo "one more: $seconds s, $(says written) of $(says pages) pages written"

mkdir -p "$scratch/one/runs"
for runs in "$scratch"/fleet/machine-*/runs; do cp -al "$runs/." "$scratch/one/runs/"; done
NARROWS_ARCHIVE=$scratch/one "$narrows" runs list >"$scratch/out"
NARROWS_ARCHIVE=$scratch/one timed "$narrows" runs list
echo "runs list: $seconds s, $mib MiB"
NARROWS_ARCHIVE=$scratch/one timed "$narrows" runs list --target nvme --since 30d
echo "runs list --target --since: $seconds s"

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $chromium ]]; then
    cannot "the pages in a browser: there is no chromium (Debian: chromium)"
else
    # A list of hundreds of machines is as long as it is.
    pages=()
    for page in "$scratch"/site/*.html; do [[ $page == */machines.html ]] || pages+=("$page"); done
    for folder in device machine ranking; do pages+=("$(find "$scratch/site/$folder" -name '*.html' | sort | head -n 1)"); done
    python3 "$here/pages.py" "$chromium" - "${pages[@]/%/=14}" >"$scratch/log" 2>&1 || fail "pages with faults"
    echo "Chromium: ${#pages[@]} pages, 1280 and 390 px wide, without a fault"
fi
