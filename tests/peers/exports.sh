#!/usr/bin/env bash
# What `narrows export` writes for others, read by them: promtool and the node exporter (openmetrics, with the alert rules of
# deploy/prometheus), Otava (history-csv: it names the run that `narrows history` names), DuckDB with Parquet, and PostgreSQL (by
# schema.sql). NARROWS is the binary; VENV-exports is where the tools of PyPI are installed, and stay. What is not here is said, and makes it a skip.
set -euo pipefail
. "$(dirname "$0")/../preamble"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
exporter='' database=''
cleanup() {
    if [[ -n $exporter ]]; then kill "$exporter" 2>/dev/null || true; fi
    if [[ -n $database ]]; then as_user pg_ctl -D "$database" -m immediate stop >/dev/null 2>&1 || true; fi
    rm -rf "$scratch"
}
trap cleanup EXIT
needs python3
missing=()
python=python3
if (python_tools "${VENV:?a directory for the Python tools}-exports" apache-otava==0.8.0 duckdb==2.0.1); then python=$VENV-exports/bin/python; fi

export NARROWS_ARCHIVE=$scratch/archive
# 24 runs with 3 % of noise whose reads take 12 % longer from the 15th on.
noise=(0.3 -0.9 0.6 -0.2 1.0 -0.6 0.1 -1.0 0.8 -0.4 0.5 -0.7)
for i in {0..23}; do
    us=$(awk -v i="$i" -v n="${noise[i % 12]}" 'BEGIN { printf "%.2f", (i < 14 ? 70 : 78.4) * (1 + 0.03 * n) }')
    "$narrows" run --rw randread --bs 4k --runtime 1 --size 64m --tag nightly "sim:nvme,seed=$i,read-overhead=${us}us" --json >"$scratch/out"
done
code=0
"$narrows" history nightly --json >"$scratch/history.json" || code=$?
[[ $code -eq 1 ]] || fail "history ended with $code, and there is an event"
event=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["events"][0]["after"])' "$scratch/history.json")
"$narrows" export nightly --format history-csv -o "$scratch/table/" >"$scratch/out"

if command -v promtool >/dev/null; then
    "$narrows" check sim:sata-ssd --json >"$scratch/out"
    mkdir "$scratch/textfile"
    "$narrows" export latest nightly --format openmetrics -o "$scratch/textfile/narrows.prom" >"$scratch/out"
    promtool check metrics <"$scratch/textfile/narrows.prom" >"$scratch/log" 2>&1 || fail "promtool does not accept the metrics"
    promtool test rules "$here/deploy/prometheus/rules-test.yml" >"$scratch/log" 2>&1 || fail "the alert rules do not as they say"
    echo "promtool: $(grep -vc '^#' "$scratch/textfile/narrows.prom") samples and 3 rules accepted"
else
    missing+=("promtool (Debian: prometheus)")
fi
if command -v prometheus-node-exporter >/dev/null && [[ -d $scratch/textfile ]]; then
    prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$scratch/textfile" \
        --web.listen-address=127.0.0.1:19170 >"$scratch/log" 2>&1 &
    exporter=$!
    served() { "$python" -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:19170/metrics").read().decode())' >"$scratch/served" 2>/dev/null; }
    until_so 20 served || fail "the node exporter serves nothing"
    grep -q '^node_textfile_scrape_error 0' "$scratch/served" || fail "the node exporter could not read the file"
    [[ $(grep -c '^narrows_' "$scratch/served") -eq $(grep -c '^narrows_' "$scratch/textfile/narrows.prom") ]] || fail "it serves other samples"
    echo "node exporter: $(grep -c '^narrows_' "$scratch/served") samples served"
else
    missing+=("prometheus-node-exporter")
fi

otava=$(dirname "$(command -v "$python")")/otava
if [[ -x $otava ]]; then
    cat >"$scratch/otava.yaml" <<YAML
tests:
  nightly:
    type: csv
    file: $scratch/table/history.csv
    time_column: time
    attributes: [run]
    metrics: [job.iops, job.latency_ns_p99]
    csv_options: {delimiter: ","}
YAML
    OTAVA_CONFIG=$scratch/otava.yaml "$otava" analyze nightly >"$scratch/log" 2>&1 || fail "Otava does not read the table"
    # Below the line with the changes is the first run after them.
    named=$(awk '/%/ { found = 1 } found && /Z-/ { for (i = 1; i <= NF; i++) if ($i ~ /Z-/) { print $i; exit } }' "$scratch/log")
    [[ $named == "$event" ]] || fail "Otava names $named, narrows history $event"
    echo "Otava: names $named, as narrows history does"
else
    missing+=("otava (PyPI: apache-otava)")
fi

if "$python" -c 'import duckdb' 2>/dev/null; then
    "$python" - "$scratch" <<'PYTHON' || fail "DuckDB does not load the table"
import sys, duckdb
scratch = sys.argv[1]
base = duckdb.connect()
base.execute(open(f"{scratch}/table/schema.sql").read())
base.execute(f"COPY narrows_runs FROM '{scratch}/table/history.csv' (HEADER)")
base.execute(f"COPY narrows_runs TO '{scratch}/history.parquet'")
rows, rate, at = base.execute(f"""SELECT count(*), avg("job.iops"), max(time) FROM '{scratch}/history.parquet'""").fetchone()
assert rows == 24 and rate > 10_000 and at.year >= 2020, (rows, rate, at)
print(f"DuckDB: {rows} runs loaded by schema.sql, written as Parquet and read again")
PYTHON
else
    missing+=("duckdb (PyPI)")
fi

as_user() { if [[ $(id -u) -eq 0 ]]; then runuser -u nobody -- "$@"; else "$@"; fi; }
tools=$(for d in /usr/lib/postgresql/*/bin /usr/local/bin /usr/bin; do if [[ -x $d/initdb ]]; then echo "$d"; break; fi; done)
if [[ -n $tools ]]; then
    PATH="$tools:$PATH"
    database=$scratch/database
    chmod 755 "$scratch" "$scratch/table" && chmod 644 "$scratch/table"/*
    mkdir -m 700 "$database" "$scratch/socket"
    if [[ $(id -u) -eq 0 ]]; then chown nobody "$database" "$scratch/socket"; fi
    cd /
    as_user initdb -D "$database" -A trust -U narrows >"$scratch/log" 2>&1 || fail "no PostgreSQL could be made"
    as_user pg_ctl -D "$database" -w -o "-c listen_addresses='' -k $scratch/socket" -l "$database/log" start >"$scratch/log" 2>&1 || fail "PostgreSQL does not start"
    ask() { as_user psql -v ON_ERROR_STOP=1 -qAt -h "$scratch/socket" -U narrows postgres "$@"; }
    ask -f "$scratch/table/schema.sql" -c "\\copy narrows_runs FROM '$scratch/table/history.csv' CSV HEADER" >"$scratch/log" 2>&1 || fail "PostgreSQL does not load the table"
    count=$(ask -c 'SELECT count(*) FROM narrows_runs WHERE "job.iops" > 10000 AND time > date '"'2020-01-01'")
    [[ $count -eq 24 ]] || fail "PostgreSQL has $count runs of 24"
    echo "PostgreSQL: $count runs loaded by schema.sql"
else
    missing+=("PostgreSQL (Debian: postgresql)")
fi

for part in "${missing[@]}"; do echo "SKIPPED: there is no $part"; done
if [[ ${#missing[@]} -gt 0 ]]; then exit 77; fi
