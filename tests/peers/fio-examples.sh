#!/usr/bin/env bash
# The job files that fio brings as examples, shortened and really run: each runs to its end, or is refused with a reason that
# names its file and line. They come from $FIO_EXAMPLES, from where Debian's package puts them, or out of that package,
# which apt-get downloads. NARROWS is the binary. With KEEP=FILE the outcomes are left there as a table.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

examples=${FIO_EXAMPLES:-/usr/share/doc/fio/examples}
if ! compgen -G "$examples/*.fio*" >/dev/null; then
    (cd "$scratch" && apt-get download -q fio-examples >log 2>&1 && dpkg-deb -x fio-examples_*.deb package) ||
        cannot "no examples of fio in $examples, and its package cannot be downloaded: $(tail -n 1 "$scratch/log")"
    examples=$scratch/package/usr/share/doc/fio/examples
fi
mkdir "$scratch/jobs" "$scratch/of"
cp "$examples"/*.fio* "$scratch/jobs/"
gunzip -q "$scratch"/jobs/*.gz 2>/dev/null || true
# Where a file asks for direct I/O the target should have it; memory has not. A file where no temporary one can be.
export NARROWS_ARCHIVE="$scratch/archive"
# What the files that name variables say of them.
export FIO_RW=randread FIO_IODEPTH=16 FIO_BS=4k
cd "$scratch/jobs"

device=
if truncate -s 4T "$scratch/device" && device=$(losetup --find --show "$scratch/device" 2>/dev/null); then
    trap 'losetup -d "$device"; rm -rf "$scratch"' EXIT
fi

# one JOB: runs it, and leaves its line of the table.
one() {
    local job=$1 status=0 own=$scratch/of/$1 line
    mkdir -p "$own/target"
    # A file that names a device gets one as large as devices are, where there may be one; the others a directory.
    local target=("$own/target") shorter=()
    if names_device "$job"; then target=("$device" --destroy "${device#/dev/}"); fi
    if grep -q '^filesize=' "$job"; then shorter=(--set filesize=8m); fi
    # As much of each as tells whether it runs: a second, or 8 MiB.
    timeout 120 "$narrows" run "$job" "${target[@]}" --set runtime=1 --set size=8m --set ramp_time=0 --set startdelay=0 --set steadystate_duration=2 \
        "${shorter[@]}" --json >"$own/out" 2>"$own/err" </dev/null || status=$?
    line=$(python3 - "$status" "$job" "$own/out" <<'PYTHON'
import json, re, sys

status, name, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
document = json.load(open(out))
kind = document["schema"].split("/")[1]
if status in (0, 4):
    assert kind == "run", kind
    phases = [p for p in document["phases"] if p["name"] != "layout"]
    measured = sum(p["status"] == "measured" for p in phases)
    reasons = sorted({(r["code"] or r["text"]) for p in phases if p["status"] != "measured" for r in p["reasons"]})
    # Every phase either has numbers or says why not, and no phase failed.
    assert all(p["status"] == "measured" or p["reasons"] for p in phases), phases
    assert document["state"] == "complete", document["state"]
    print(f"ran: {measured} of {len(phases)} phases measured" + (f", the others: {', '.join(reasons)}" if reasons else ""))
elif status in (2, 3):
    message = document["message"]
    assert kind == "error" and message
    if status == 2:
        assert re.match(re.escape(name) + r":\d+: ", message) or "phase '" in message, message
    print("refused: " + message.split("\n")[0])
else:
    sys.exit(f"ended with {status}")
PYTHON
    ) 2>>"$own/err" || line="FAILED: $status: $(tail -n 1 "$own/err")"
    printf '| %s | %s |\n' "$job" "${line//|/\\|}" >"$own/line"
    rm -rf "$own/target"
}

names_device() { [[ -n $device ]] && grep -Eq '^(filename|libblkio_path)=/dev/' "$1"; }

# Those on the one device one by one; the others mostly wait for their second to pass, four at a time.
for job in *.fio; do if names_device "$job"; then one "$job"; fi; done
for job in *.fio; do
    if names_device "$job"; then continue; fi
    while [[ $(jobs -rp | wc -l) -ge 4 ]]; do wait -n || true; done
    one "$job" &
done
wait
cat "$scratch"/of/*/line >"$scratch/table"
files=(*.fio)
[[ $(wc -l <"$scratch/table") -eq ${#files[@]} ]] || fail "$(wc -l <"$scratch/table") of ${#files[@]} job files were tried"
failures=$(grep -c '| FAILED' "$scratch/table" || true)
ran=$(grep -c '| ran' "$scratch/table" || true)
printf '%s job files: %s ran, %s refused, %s failed\n' "$(wc -l <"$scratch/table")" "$ran" "$(grep -c '| refused' "$scratch/table" || true)" "$failures"
if [[ -n ${KEEP:-} ]]; then cp "$scratch/table" "$KEEP"; fi
grep FAILED "$scratch/table" >&2 || true
[[ $failures -eq 0 ]] || exit 1
# Newer packages bring other files; of those of Debian 12 that many have run.
[[ $ran -ge 20 ]] || { echo "FAILED: only $ran ran" >&2; exit 1; }
