#!/usr/bin/env bash
# One thread, by a control group that lets no other be made: `narrows check` measures all the same, and what needs more threads
# is refused with the remedy. Needs root and the pids controller; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
group=

clean_up() {
    if [[ -n $group ]]; then rmdir "$group" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT

export NARROWS_ARCHIVE=$scratch/archive
mkdir "$scratch/target"
for parent in /sys/fs/cgroup/pids /sys/fs/cgroup; do
    if mkdir "$parent/narrows-few-threads-$$" 2>/dev/null; then
        group=$parent/narrows-few-threads-$$
        if [[ -e $group/pids.max ]]; then break; fi
        rmdir "$group"
        group=
    fi
done
[[ -n $group ]] || cannot "there is no control group with a limit of processes"
echo 1 >"$group/pids.max"

# alone ARGUMENT...: one process with one thread; its status in $status.
alone() {
    status=0
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        exec "$narrows" "$@"
    ) >"$scratch/out" 2>"$scratch/err" || status=$?
    if grep -q panicked "$scratch/err"; then fail "it panicked"; fi
}

echo "a check"
alone check "$scratch/target" --budget 6s --json
[[ $status -eq 0 || $status -eq 4 ]] || fail "it ended with $status"
grep -q '"state": "complete"' "$scratch/out" || fail "it is not complete"
grep -q 'only before and after each phase' "$scratch/out" || fail "it does not say what is missing"

echo "two jobs"
printf 'name = "two"\n[[phase]]\nname = "two"\noperation = "write"\nregion = "1MiB"\njobs = 2\njob-offset = "1MiB"\n' \
    >"$scratch/two.toml"
alone run "$scratch/two.toml" "$scratch/target"
[[ $status -eq 3 ]] || fail "it ended with $status"
grep -q 'pids.max' "$scratch/err" || fail "there is no remedy"

echo "the screen"
alone watch --live --count 1 </dev/null
[[ $status -ne 101 ]] || fail "it panicked"
echo "done"
