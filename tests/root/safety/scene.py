"""What a row of the table needs: images, loop devices, mounts, nodes and holders of its own; all is undone when the row ends."""

import array
import fcntl
import os
import re
import struct
import subprocess
import sys
import time
from contextlib import ExitStack

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
IMAGE_BYTES = 8 * MIB
# Of swap, one page of it.
HEADER_BYTES = 4096
PATIENCE_S = 20
# <linux/blkpg.h>, <linux/fs.h>
BLKFLSBUF = 0x1261
BLKPG, ADD_PARTITION, DELETE_PARTITION = 0x1269, 1, 2
NOBODY = 65534


class CannotBeMade(Exception):
    """The machine lacks what the row needs: the reason."""


def need(program):
    """Raises unless there is such a program."""
    if not any(os.access(os.path.join(d, program), os.X_OK) for d in os.environ["PATH"].split(":")):
        raise CannotBeMade(f"there is no {program}")


def ran(*command):
    """What a program of the machine prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode:
        raise CannotBeMade(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout.strip()


def retried(what):
    """For what others may be in the way of for a moment: udev, or who takes the same loop device."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return what()
        except (CannotBeMade, OSError):
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def attached(file, offset, flags):
    """A free loop device over this file."""
    node = ran("losetup", "-f")
    ran("losetup", "-o", str(offset), *flags, node, file)
    return node


def unmounted(place):
    """As umount, which a process that looks may keep busy for a moment."""
    try:
        retried(lambda: ran("umount", place))
    except CannotBeMade:
        subprocess.run(["umount", "-l", place], check=False)


def emptied(path):
    """Gives the memory of an image back, if it is still there."""
    if os.path.isfile(path):
        os.truncate(path, 0)


def ext4(device):
    """The device, with ext4 on it that has nothing left to write."""
    need("mkfs.ext4")
    ran("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", device)
    return device


def read(path):
    """A small file."""
    with open(path) as file:
        return file.read().strip()


def write(path, text):
    """Into an attribute."""
    with open(path, "w") as file:
        file.write(text)


def children(pid):
    """Processes that it started."""
    return read(f"/proc/{pid}/task/{pid}/children").split()


def number(node):
    """Major and minor."""
    device = os.stat(node).st_rdev
    return os.major(device), os.minor(device)


def kernel_name(node):
    """As in /sys."""
    return os.path.basename(os.path.realpath("/sys/dev/block/%d:%d" % number(node)))


def sum_of(path, limit=None):
    """Of the bytes of a file or device; of a device past its cache, for it may have been written through another one."""
    with open(path, "rb") as file:
        if not os.path.isfile(path):
            os.fsync(file.fileno())
            fcntl.ioctl(file.fileno(), BLKFLSBUF)
        return hash(file.read(limit))


class Scene(ExitStack):
    """Things of one row. `contents` must never change; `says` are words of which a refusal has one: they name the holder."""

    def __init__(self, directory, asked, identity_of):
        super().__init__()
        self.directory, self.asked, self.identity_of = directory, asked, identity_of
        self.spare, self.identities = list(asked.spare), {}
        self.contents, self.devices, self.says = [], [], []
        # How the program is to run: before its name, and as whom.
        self.wrapper, self.user = [], None
        self.is_swap = False
        self.count = 0
        os.makedirs(directory)

    def path(self, what):
        """A path that nothing has yet."""
        self.count += 1
        return os.path.join(self.directory, f"{what}{self.count}")

    def image(self, size=IMAGE_BYTES):
        """A file of random content, at its beginning at least, which is to stay as it is."""
        path = self.path("image")
        with open(path, "wb") as file:
            file.write(os.urandom(min(size, IMAGE_BYTES)))
            file.truncate(size)
        # All else in the directory goes with the mount namespace; what is mounted there is never looked into.
        self.callback(emptied, path)
        self.contents.append(path)
        return path

    def loop(self, file=None, offset=0, *flags):
        """A loop device over this file or device, else over an image of its own."""
        file = file or self.image()
        node = retried(lambda: attached(file, offset, flags))
        self.callback(subprocess.run, ["losetup", "-d", node], check=False)
        self.devices.append(node)
        return node

    def disk(self):
        """One of the machine's spare disks; a loop device where there are none."""
        if not self.spare:
            return self.loop()
        node = self.spare.pop(0)
        with open(node, "wb") as file:
            file.write(os.urandom(MIB))
        self.contents.append(node)
        self.devices.append(node)
        return self.known(node)

    def known(self, node):
        """How a device is confirmed is asked while nobody uses it."""
        self.identities[node] = self.identity_of(node)
        return node

    def zram(self):
        """A block device in memory."""
        control = "/sys/class/zram-control/"
        if not os.path.exists(control):
            raise CannotBeMade("there is no zram")
        which = read(control + "hot_add")
        self.callback(retried, lambda: write(control + "hot_remove", which))
        write(f"/sys/block/zram{which}/disksize", str(IMAGE_BYTES))
        node = self.appears(f"/dev/zram{which}")
        with open(node, "wb") as file:
            file.write(os.urandom(IMAGE_BYTES))
        self.devices.append(node)
        self.contents.append(node)
        return node

    def partition(self, disk, which, start, length):
        """A partition that is told to the kernel, which may know no kind of table."""

        def tell(operation, start=0, length=0):
            part = array.array("B", struct.pack("qqi64s64s4x", start, length, which, b"", b""))
            with open(disk, "rb") as file:
                fcntl.ioctl(file.fileno(), BLKPG, struct.pack("iiiiP", operation, 0, len(part), 0, part.buffer_info()[0]))

        tell(ADD_PARTITION, start, length)
        self.callback(retried, lambda: tell(DELETE_PARTITION))
        node = self.appears(disk + ("p" if disk[-1].isdigit() else "") + str(which))
        self.devices.append(node)
        return self.known(node)

    def appears(self, path):
        """A node that udev or the kernel makes in its own time."""

        def there():
            if not os.path.exists(path):
                raise CannotBeMade(f"{path} does not appear")
            return path

        return retried(there)

    # Other names

    def node(self, device):
        """Another node of a device, outside /dev."""
        path = self.path("node")
        os.mknod(path, 0o060600, os.stat(device).st_rdev)
        if self.user:
            os.chown(path, self.user, self.user)
        return path

    def symlink(self, path):
        """A symlink to this path."""
        link = self.path("link")
        os.symlink(path, link)
        return link

    def by_number(self, device):
        """As /dev/block/MAJOR:MINOR, which udev makes, has it."""
        links = self.path("block")
        os.mkdir(links)
        os.symlink(device, f"{links}/%d:%d" % number(device))
        return f"{links}/%d:%d" % number(device)

    def bound(self, what):
        """A bind mount of a file, directory or node."""
        place = self.path("bound")
        if os.path.isdir(what):
            os.mkdir(place)
        else:
            open(place, "w").close()
        ran("mount", "-o", "bind", os.path.realpath(what), place)
        self.callback(unmounted, place)
        return place

    # Uses

    def mounted(self, device, *options):
        """The device, with a file system that is mounted at `place`."""
        self.place = self.path("mount")
        os.mkdir(self.place)
        ran("mount", "-t", "ext4", "-o", ",".join(("noatime", *options)), ext4(device), self.place)
        self.callback(unmounted, self.place)
        self.says += [self.place, "mounted"]
        return device

    def mounted_elsewhere(self, device):
        """The device, mounted in a mount namespace of its own only."""
        place = self.path("mount")
        os.mkdir(place)
        script = f"mount -t ext4 -o noatime {ext4(device)} {place} && echo held && exec cat"
        self.started("unshare", "-m", "sh", "-c", script)
        self.says += [place, "namespace", "mounted"]
        return device

    def file_inside(self, size=4 * MIB):
        """A file on a file system of its own, whose content is to stay."""
        self.mounted(self.loop())
        path = os.path.join(self.place, "file")
        with open(path, "wb") as file:
            file.write(os.urandom(size))
            os.fsync(file.fileno())
        # What lies around it may change.
        self.contents[:], self.says[:] = [path], []
        return path

    def swap(self, path):
        """A file or device, with active swap."""
        ran("mkswap", path)
        ran("swapon", path)
        self.callback(subprocess.run, ["swapoff", path], check=False)
        # The machine may need it: only its header stays.
        self.is_swap = True
        self.says.append("swap")
        return path

    def held(self, how, path, user=None, wrapper=()):
        """What another process holds in one of hold.py's ways."""
        as_user = [str(user)] if user else []
        process = self.started(*wrapper, sys.executable, os.path.join(HERE, "hold.py"), how, path, *as_user)
        for pid in (process.pid, *children(process.pid)):
            self.says.append(f"process {pid} ")
        return path

    def locked(self, how, path):
        """The same, where /proc/locks shows it as well."""
        self.says += ["lock", "lease"]
        return self.held(how, path)

    def closed(self, path):
        """What another process has held, and holds no longer."""
        self.held("emulator", path)
        self.ended()
        self.says.clear()
        return path

    def fuse(self, path):
        """The path at which a FUSE file system gives this file."""
        if not os.path.exists("/dev/fuse"):
            raise CannotBeMade("there is no FUSE")
        place = self.path("fuse")
        os.mkdir(place)
        server = self.started(sys.executable, os.path.join(HERE, "fuse.py"), place, path)
        self.callback(unmounted, place)
        self.says.append(f"process {server.pid} ")
        return os.path.join(place, "image")

    def emulator(self, path):
        """QEMU, which locks its images."""
        need("qemu-system-x86_64")
        drive = f"file={path},format=raw,if=none,id=d"
        qemu = ["qemu-system-x86_64", "-M", "none", "-S", "-nodefaults", "-display", "none", "-monitor", "stdio"]
        process = self.started(*qemu, "-drive", drive, ready="(qemu)", leave="quit\n")
        self.says += ["lock", f"process {process.pid} "]
        return path

    def started(self, *command, ready="held", leave=""):
        """A process that says when it is ready, and ends when its input does."""
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def ended():
            try:
                process.communicate(leave, PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

        self.ended = ended
        self.callback(lambda: process.returncode is None and ended())
        said = ""
        while not said.endswith(ready):
            letter = process.stdout.read(1)
            said += letter
            if not letter:
                raise CannotBeMade(f"{' '.join(command)} does not hold it: {said}")
        return process

    def content(self):
        """A sum of all that must not change, as it is on its device now."""
        for device in reversed(self.devices):
            with open(device, "rb") as file:
                os.fsync(file.fileno())
        return [sum_of(path, HEADER_BYTES if self.is_swap else None) for path in self.contents]

    def settle(self):
        """From now on nothing may change."""
        self.settled = self.content()

    def is_settled(self):
        """Whether nothing has."""
        return self.content() == self.settled
