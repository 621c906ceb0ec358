#!/usr/bin/env bash
# The workflows for GitHub Actions and GitLab in docs/guide, step by step as these services execute them (ci-examples.py): for the main branch,
# and for a change. NARROWS is the binary; VENV-ci is where PyYAML is installed, and stays.
set -euo pipefail
. "$(dirname "$0")/../preamble"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(in_memory 500000000)
trap 'rm -rf "$scratch"' EXIT
needs git
python_tools "${VENV:?a directory for the Python tools}-ci" PyYAML==6.0.3
mkdir -p "$scratch/bin" "$scratch/checkout/of-a-board"
ln -s "$narrows" "$scratch/bin/narrows"
# What it would build is there.
printf '#!/bin/sh\n[ "$1 $2" = "install --git" ] && [ -n "$3" ] && [ "$4" = narrows ]\n' >"$scratch/bin/cargo"
chmod +x "$scratch/bin/cargo"
export PATH="$scratch/bin:$PATH"
cd "$scratch/checkout"
git init -q .
# What somebody contributed.
"$narrows" --archive of-a-board check sim:a1-card --json >"$scratch/out"
"$VENV-ci/bin/python" "$here/tests/trials/ci-examples.py" "$here/docs/guide/ci.md" "$here/docs/guide/many-machines.md" >"$scratch/log" 2>&1 || fail "a workflow does not end as it says"
grep -q 'a verdict for the pull request' "$scratch/log" || fail "no pull request was compared"
for made in history.html metrics.txt _site/index.html summary.md; do [[ -s $made ]] || fail "$made was not made"; done
cat "$scratch/log"
