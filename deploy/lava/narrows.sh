#!/bin/sh
# The steps of narrows.yaml. TARGET, FOR, BUDGET, MAX_WRITE and NARROWS are its parameters.
# The check itself is the test case `narrows-check`: pass, fail (FOR is not met), unknown (not answered, or it could not run).
set -u

: "${TARGET:=.}" "${FOR:=}" "${BUDGET:=60s}" "${MAX_WRITE:=}" "${NARROWS:=narrows}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export NARROWS_ARCHIVE="$work/archive"

# report NAME RESULT [MEASUREMENT UNITS]: without LAVA's overlay (a runner of test-definitions) the signal itself.
report() {
    if command -v lava-test-case >/dev/null 2>&1; then
        lava-test-case "$1" --result "$2" ${3:+--measurement "$3" --units "$4"}
    else
        echo "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=$1 RESULT=$2${3:+ MEASUREMENT=$3 UNITS=$4}>"
    fi
}

code=0
"$NARROWS" check "$TARGET" --budget "$BUDGET" ${FOR:+--for "$FOR"} ${MAX_WRITE:+--max-write "$MAX_WRITE"} || code=$?
case $code in
    0) report narrows-check pass ;;
    1) report narrows-check fail ;;
    *)
        echo "narrows check ended with $code"
        report narrows-check unknown
        ;;
esac
# Without a run there are no numbers; that has been said.
"$NARROWS" export latest --format csv -o "$work/metrics.csv" >/dev/null || exit 0

# Name, status, value, unit, reasons, with tabs between; the columns by their names.
LC_ALL=C awk '
function cells(line,   n, c, i, quoted) {
    n = 1; split("", cell); cell[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") { cell[n] = cell[n] c; i++ }
        else if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) cell[++n] = ""
        else cell[n] = cell[n] c
    }
    return n
}
NR == 1 { count = cells($0); for (i = 1; i <= count; i++) column[cell[i]] = i; next }
{
    cells($0)
    name = cell[column["metric"]]; gsub(/[^A-Za-z0-9._-]/, "_", name)
    value = cell[column["value"]]
    printf "%s\t%s\t%s\t%s\t%s\n", name, cell[column["status"]], value == "" ? "-" : sprintf("%.3f", value), cell[column["unit"]],
        cell[column["reasons"]]
}' "$work/metrics.csv" >"$work/metrics"
tab=$(printf '\t')
while IFS=$tab read -r name status value unit reasons; do
    case $status in
        measured) report "$name" pass "$value" "$unit" ;;
        refused)
            echo "$name is refused: $reasons"
            report "$name" unknown
            ;;
        *)
            echo "$name: $status $reasons"
            report "$name" skip
            ;;
    esac
done <"$work/metrics"
