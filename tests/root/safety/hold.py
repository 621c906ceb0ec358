"""Holds a file or device in one of the ways in which a program can, until its standard input ends.

    hold.py HOW PATH       prints "held" when it does

Nothing here writes to what it holds.
"""

import fcntl
import os
import struct
import sys

# struct flock of 64-bit machines: type, whence, start, length, process.
def whole(kind, start=0, length=0):
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)


def lock(fd, command, kind, *area):
    fcntl.fcntl(fd, command, whole(kind, *area))


def as_an_emulator_does(path):
    """QEMU's file-posix.c: shared OFD locks, on a byte from 100 on for each right that it uses, from 200 on for each that it denies."""
    fd = os.open(path, os.O_RDWR)
    for byte in (100, 101, 103, 201):
        lock(fd, fcntl.F_OFD_SETLK, fcntl.F_RDLCK, byte, 1)
    return fd


def mapped(path):
    """A mapping outlives its descriptor, and nothing of it is in /proc/PID/fd. Python's own mmap would keep one."""
    import ctypes

    fd, libc = os.open(path, os.O_RDWR), ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    read_write, shared = 3, 1
    if libc.mmap(None, ctypes.c_size_t(1 << 20), read_write, shared, fd, ctypes.c_long(0)) == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    os.close(fd)


def opened_and(path, mode, take):
    fd = os.open(path, mode)
    take(fd)
    return fd


def leased(path, mode, kind):
    """As a file server has it: the lease goes when somebody opens the file, and is taken again when he has closed it."""
    import select
    import signal

    fd = os.open(path, mode)
    signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK))
    fcntl.fcntl(fd, fcntl.F_SETLEASE, kind)
    print("held", flush=True)
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, kind)
        except OSError:
            pass
    sys.exit(0)


WAYS = {
    "read": lambda path: os.open(path, os.O_RDONLY),
    "write": lambda path: os.open(path, os.O_RDWR),
    "excl": lambda path: os.open(path, os.O_RDWR | os.O_EXCL),
    "mapping": lambda path: mapped(path),
    "flock": lambda path: opened_and(path, os.O_RDONLY, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX)),
    "shared-flock": lambda path: opened_and(path, os.O_RDONLY, lambda fd: fcntl.flock(fd, fcntl.LOCK_SH)),
    "posix-write-lock": lambda path: opened_and(path, os.O_RDWR, lambda fd: lock(fd, fcntl.F_SETLK, fcntl.F_WRLCK)),
    "posix-read-lock": lambda path: opened_and(path, os.O_RDONLY, lambda fd: lock(fd, fcntl.F_SETLK, fcntl.F_RDLCK)),
    "ofd-lock": lambda path: opened_and(path, os.O_RDWR, lambda fd: lock(fd, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, 4096, 512)),
    "emulator": as_an_emulator_does,
    "read-lease": lambda path: leased(path, os.O_RDONLY, fcntl.F_RDLCK),
    "write-lease": lambda path: leased(path, os.O_RDWR, fcntl.F_WRLCK),
}

if __name__ == "__main__":
    how, path = sys.argv[1:3]
    kept = WAYS[how](path)
    if len(sys.argv) > 3:
        os.setgid(int(sys.argv[3]))
        os.setuid(int(sys.argv[3]))
    print("held", flush=True)
    sys.stdin.read()
