#!/usr/bin/env bash
# Alone: what it measures may not be refused for what other checks do.
# Each command of the tours of README.md and docs/guide is carried out, small: loop devices stand for the devices, a mounted one for /mnt/card, and so
# on (tests/trials/tours/tours.py has the table). Each has to end as the document says. Needs root, loop devices, mkfs.ext4 and python3.
set -euo pipefail
. "$(dirname "$0")/../preamble"
needs python3 mkfs.ext4 losetup
[[ $(id -u) -eq 0 ]] || cannot "this user is not root"
exec python3 "$(dirname "$0")/tours/tours.py"
