"""Serves a file as a network block device, by a socket pair: the kernel's driver (drivers/block/nbd.c) and no network.

    nbd.py DEVICE FILE      prints "held" when it does, until its standard input ends
"""

import fcntl
import os
import socket
import struct
import sys

# <linux/nbd.h>
SET_SOCK, SET_BLKSIZE, DO_IT, CLEAR_SOCK, SET_SIZE_BLOCKS, DISCONNECT = 0xAB00, 0xAB01, 0xAB03, 0xAB04, 0xAB07, 0xAB08
REQUEST, REPLY = struct.Struct(">IIQQI"), struct.Struct(">IIQ")
READ, WRITE, END = 0, 1, 2
BLOCK_BYTES = 1024


def whole(sock, size):
    out = b""
    while len(out) < size:
        part = sock.recv(size - len(out))
        if not part:
            os._exit(0)
        out += part
    return out


def serve(sock, file):
    while True:
        _, kind, handle, offset, size = REQUEST.unpack(whole(sock, REQUEST.size))
        data = b""
        if kind & 0xFFFF == END:
            return
        if kind & 0xFFFF == WRITE:
            os.pwrite(file, whole(sock, size), offset)
        elif kind & 0xFFFF == READ:
            data = os.pread(file, size, offset)
        sock.sendall(REPLY.pack(0x67446698, 0, handle) + data)


if __name__ == "__main__":
    device, path = sys.argv[1:3]
    ours, kernels = socket.socketpair()
    file = os.open(path, os.O_RDWR)
    blocks = os.lseek(file, 0, os.SEEK_END) // BLOCK_BYTES
    server = os.fork()
    if server == 0:
        kernels.close()
        serve(ours, file)
        os._exit(0)
    # Only the server has the file.
    os.close(file)
    ours.close()
    node = os.open(device, os.O_RDWR)
    fcntl.ioctl(node, SET_BLKSIZE, BLOCK_BYTES)
    fcntl.ioctl(node, SET_SIZE_BLOCKS, blocks)
    fcntl.ioctl(node, SET_SOCK, kernels.fileno())
    if os.fork() == 0:
        fcntl.ioctl(node, DO_IT)
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
    fcntl.ioctl(node, DISCONNECT)
    fcntl.ioctl(node, CLEAR_SOCK)
