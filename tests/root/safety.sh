#!/usr/bin/env bash
# Alone: it makes swap space, which is not found under its name from the mount namespaces of the others.
# Nothing that is in use is ever written to, by whatever name: the table of tests/root/safety/rows.py, on loop devices, zram,
# files and mounts of its own. What needs device mapper, md or nbd is in the lab's machine `safety`. Needs root, loop devices,
# mkfs.ext4 and python3; NARROWS is the binary. Arguments are those of tests/root/safety/table.py.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"
source "$(dirname "$0")/safety/inside.sh"
inside table.py "$@"
