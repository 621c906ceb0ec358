#!/usr/bin/env bash
# Operations on files where they cannot be done: a file system with few inodes, one that is full, a quota, one without links, one that turns read-only, a
# directory that cannot be written to, and a run that is killed: each is said in words, and nothing of ours is left. Needs root, mkfs.ext4,
# mkfs.btrfs, strace and a loop device that this script makes; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
export NARROWS_ARCHIVE=$scratch/archive
target=$scratch/target

clean_up() {
    umount --lazy "$target" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

needs mkfs.ext4 mkfs.btrfs setpriv strace
losetup --find >/dev/null 2>&1 || cannot "no loop device can be made here"
mkdir "$target"

# mounted MAKER... : a new file system of 1 GiB, mounted.
mounted() {
    umount "$target" 2>/dev/null || true
    rm -f "$scratch/image"
    truncate -s 1G "$scratch/image"
    "$@" "$scratch/image" >"$scratch/err" 2>&1 || fail "$*"
    mount -o loop "$scratch/image" "$target" 2>"$scratch/err" || fail "mount"
    printf 'theirs\n' >"$target/0.0"
}

# files EXPECTED_STATUS ARGUMENT...: some files on the target; the answer is in $scratch/answer.
files() {
    local wanted=$1 status=0
    shift
    timeout 120 "$narrows" run "$scratch/text.toml" "$target" "$@" --json >"$scratch/answer" 2>"$scratch/err" || status=$?
    [[ $status -eq $wanted ]] || fail "run $* ended with $status, not $wanted"
}

says() { grep -qiE -- "$1" "$scratch/answer" "$scratch/err" || fail "it does not say: $1"; }

# The same as another user.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent NARROWS_ARCHIVE="$scratch/theirs" \
        timeout 120 "$scratch/narrows" run "$scratch/text.toml" "$1" --json >"$scratch/answer" 2>"$scratch/err"
}

untouched() {
    [[ $(cat "$target/0.0") == theirs ]] || fail "what was there has changed"
    [[ $(find "$target" -name '.narrows*' | wc -l) -eq 0 ]] || fail "something of ours is left"
}

cat >"$scratch/text.toml" <<'TOML'
name = "some"
quiet = "10ms"
[defaults]
file-count = 2000
[[phase]]
name = "create"
operation = "create"
file-size = "4KiB"
[[phase]]
name = "delete"
operation = "delete"
TOML

printf 'few inodes\n'
mounted mkfs.ext4 -q -F -N 600
files 3
says '2,?000 files or directories;.* free inodes'
untouched
files 0 --set file-count=300
untouched

printf 'full\n'
mounted mkfs.ext4 -q -F
files 3 --set file-count=60000 --set create.file-size=16KiB
says 'offers|free inodes'
untouched

printf 'a quota\n'
mounted mkfs.btrfs -q -f
{ btrfs quota enable "$target" && btrfs qgroup limit 16M "$target"; } >"$scratch/err" 2>&1 || fail "btrfs quota"
files 4 --set create.file-size=16KiB
says EDQUOT
untouched

printf 'read-only\n'
mounted mkfs.ext4 -q -F
mount -o remount,ro "$target"
files 3
says 'read-only|EROFS'
mount -o remount,rw "$target"
untouched

printf 'no permission\n'
install -d -m 755 "$target/mine"
chmod 755 "$scratch"
install -m 755 "$narrows" "$scratch/narrows"
install -d -m 777 "$scratch/theirs"
status=0
as_nobody "$target/mine" || status=$?
[[ $status -eq 3 ]] || fail "no permission: it ended with $status"
says 'EACCES|permission'
untouched

# The answer of vfat, which this kernel may not have, put in its place by strace.
printf 'no links\n'
cp "$scratch/text.toml" "$scratch/files.toml"
for kind in symlink hard-link; do
    sed -e "s/^file-size.*/file-kind = \"$kind\"/" "$scratch/files.toml" >"$scratch/text.toml"
    files 0
    narrows_itself=$narrows
    narrows=$scratch/refused
    printf '#!/bin/sh\nexec strace -f -qq -o /dev/null -e inject=symlinkat,linkat:error=EPERM "%s" "$@"\n' "$narrows_itself" >"$narrows"
    chmod 755 "$narrows"
    files 3
    narrows=$narrows_itself
    says 'this file system makes no (symbolic|hard) links \(.*EPERM'
    untouched
done
cp "$scratch/files.toml" "$scratch/text.toml"

printf 'killed\n'
"$narrows" run files "$target" --set time=20s >/dev/null 2>&1 &
running=$!
made() { [[ $(find "$target" -path '*/.narrows-files*' | wc -l) -gt 100 ]]; }
until_so 15 made || fail "it makes no files"
kill -KILL "$running"
wait "$running" 2>/dev/null || true
made || fail "it was killed when nothing of it was there"
files 0
untouched
echo ok
