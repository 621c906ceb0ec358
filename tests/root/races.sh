#!/usr/bin/env bash
# What was checked is what is written: at every system call on the target its name is given to something else, which must stay as
# it is (tests/root/safety/races.py). Needs root, loop devices, mkfs.ext4, python3 and strace; NARROWS is the binary.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"
source "$(dirname "$0")/safety/inside.sh"
command -v strace >/dev/null || cannot "there is no strace"
inside races.py "$@"
