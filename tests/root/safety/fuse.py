"""A FUSE file system with one file, `image`, whose content is another file, which this process has open for reading and writing.

    fuse.py MOUNTPOINT FILE      prints "held" when it is mounted; ends when it is unmounted

The protocol is that of the kernel's include/uapi/linux/fuse.h, version 7.31; what it does not need is answered with ENOSYS.
"""

import errno
import os
import stat
import struct
import subprocess
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, WRITE, RELEASE, FSYNC, FLUSH, INIT, OPENDIR = 1, 2, 3, 14, 15, 16, 18, 20, 25, 26, 27
DESTROY, INTERRUPT, BATCH_FORGET, RELEASEDIR = 38, 36, 42, 29
ROOT, IMAGE = 1, 2
REQUEST = struct.Struct("<IIQQIIII")


class Server:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR)

    def attributes(self, node):
        size = os.fstat(self.file).st_size if node == IMAGE else 0
        mode, links = (stat.S_IFREG | 0o600, 1) if node == IMAGE else (stat.S_IFDIR | 0o755, 2)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)

    def answer(self, operation, node, body):
        if operation == INIT:
            return struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 16, 12, 1 << 16, 1, 16, 0, 0)
        if operation == LOOKUP:
            if node != ROOT or body.rstrip(b"\0") != b"image":
                raise OSError(errno.ENOENT, "no such file")
            return struct.pack("<QQQQII", IMAGE, 0, 1, 1, 0, 0) + self.attributes(IMAGE)
        if operation == GETATTR:
            return struct.pack("<QII", 1, 0, 0) + self.attributes(node)
        if operation in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, 0, 0)
        if operation == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return os.pread(self.file, size, offset)
        if operation == WRITE:
            _, offset, size = struct.unpack_from("<QQI", body)
            return struct.pack("<II", os.pwrite(self.file, body[40 : 40 + size], offset), 0)
        if operation in (FSYNC, FLUSH, RELEASE, RELEASEDIR):
            return b""
        raise OSError(errno.ENOSYS, "not needed")

    def serve(self, device):
        while True:
            try:
                request = os.read(device, (1 << 17) + 4096)
            except InterruptedError:
                continue
            except OSError:
                return
            _, operation, unique, node = REQUEST.unpack_from(request)[:4]
            if operation in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            try:
                status, said = 0, self.answer(operation, node, request[REQUEST.size :])
            except OSError as error:
                status, said = -error.errno, b""
            try:
                os.write(device, struct.pack("<IiQ", 16 + len(said), status, unique) + said)
            except OSError:
                pass
            if operation == DESTROY:
                return


if __name__ == "__main__":
    place, path = sys.argv[1:3]
    device = os.open("/dev/fuse", os.O_RDWR)
    server = Server(path)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    subprocess.run(["mount", "-i", "-t", "fuse", "-o", options, "narrows-test", place], pass_fds=[device], check=True)
    print("held", flush=True)
    server.serve(device)
