# Sourced by the scripts of this directory's parent: runs one of its programs in a mount namespace and on a tmpfs of its own, so
# that whatever is left there goes with it. NARROWS is the binary, which other users have to be able to run as well.

cannot() {
    printf 'SKIPPED: %s\n' "$*"
    exit 77
}

# inside PROGRAM ARGUMENT...
inside() {
    local program=$1
    shift
    : "${NARROWS:?the path of the binary}"
    command -v python3 >/dev/null || cannot "there is no python3"
    command -v mkfs.ext4 >/dev/null || cannot "there is no mkfs.ext4 (Debian: e2fsprogs)"
    losetup --find >/dev/null 2>&1 || cannot "no loop device can be made here"
    unshare --mount true 2>/dev/null || cannot "no mount namespace can be made here"
    # The kernel's PROC_PID_INIT_INO: whoever cannot see all processes is refused every device, and rightly.
    [[ $(readlink /proc/self/ns/pid) == 'pid:[4026531836]' ]] || cannot "this is a container: not all processes are seen"
    local scratch status=0
    scratch=$(mktemp -d)
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c '
        mount -t tmpfs -o mode=755 narrows-test "$1" || exit 77
        install -m 755 "$NARROWS" "$1/narrows"
        scratch=$1
        shift
        NARROWS=$scratch/narrows exec python3 -B "$@"
    ' sh "$scratch" "$(dirname "${BASH_SOURCE[0]}")/$program" "$scratch" "$@" || status=$?
    rmdir "$scratch"
    [[ $status -ne 77 ]] || cannot "nothing can be mounted here"
    return "$status"
}
