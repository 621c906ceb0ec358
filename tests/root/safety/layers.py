"""Rows for what needs a kernel with device mapper, md and nbd: the lab's machine `safety`."""

import os
import sys
import time

from scene import HERE, CannotBeMade, kernel_name, need, ran, read, retried
from uses import PRIVATE_PIDS, under

KEY = "0123456789abcdef" * 8


def sectors(device):
    return int(read(f"/sys/class/block/{kernel_name(device)}/size"))


def mapping(s, table, uuid=None):
    """A device of the device mapper."""
    need("dmsetup")
    s.count += 1
    name = f"narrows-{os.getpid()}-{s.count}"
    ran("dmsetup", "create", name, *(["--uuid", uuid] if uuid else []), "--table", table)
    s.callback(retried, lambda: ran("dmsetup", "remove", name))
    node = s.appears("/dev/dm-" + ran("dmsetup", "info", "-c", "--noheadings", "-o", "minor", name))
    s.devices.append(node)
    s.says += [kernel_name(node), name]
    return node


def linear(s, device, start=0, length=None):
    return mapping(s, f"0 {length or sectors(device) - start} linear {device} {start}")


def crypt(s, device):
    return mapping(s, f"0 {sectors(device)} crypt aes-xts-plain64 {KEY} 0 {device} 0")


def multipath(s, *paths):
    each = " ".join(f"{path} 1" for path in paths)
    return mapping(s, f"0 {sectors(paths[0])} multipath 0 0 1 1 round-robin 0 {len(paths)} 1 {each}")


def paths(s):
    """Two devices that are one disk, with the same serial number and wwid."""
    if not s.asked.paths:
        raise CannotBeMade("there are no two paths to one disk")
    for node in s.asked.paths:
        s.devices.append(node)
        s.known(node)
    with open(s.asked.paths[0], "wb") as file:
        file.write(os.urandom(1 << 20))
    s.contents.append(s.asked.paths[0])
    return s.asked.paths


def volumes(s):
    """The disk of a volume group, and two logical volumes on it."""
    need("lvm")
    s.count += 1
    disk, group = s.disk(), f"narrows{os.getpid()}n{s.count}"
    quiet = ["--config", "devices{use_devicesfile=0} activation{udev_sync=0 udev_rules=0} backup{backup=0 archive=0}"]
    ran("lvm", "vgcreate", "-qq", "-y", "-s", "1M", group, disk, *quiet)
    s.callback(retried, lambda: ran("lvm", "vgchange", "-qq", "-an", group, *quiet))
    out = []
    for name in ("one", "other"):
        ran("lvm", "lvcreate", "-qq", "-y", "-Wn", "-Zn", "-l", "5", "-n", name, group, *quiet)
        minor = ran("dmsetup", "info", "-c", "--noheadings", "-o", "minor", f"{group}-{name}")
        out.append(s.appears(f"/dev/dm-{minor}"))
    s.devices += out
    s.says += [kernel_name(node) for node in out]
    return disk, *out


def array(s, metadata, level="1"):
    """Two disks and the array of which they are members."""
    need("mdadm")
    members = [s.disk(), s.disk()]
    which = next(n for n in range(127, 0, -1) if not os.path.exists(f"/sys/block/md{n}"))
    node = f"/dev/md{which}"
    more = ["--run", f"--metadata={metadata}", f"--level={level}", "--raid-devices=2", "--assume-clean", "--bitmap=none"]
    ran("mdadm", "--create", node, *more, *members)
    s.stop = lambda: retried(lambda: ran("mdadm", "--stop", node)) if os.path.exists(f"/sys/block/md{which}/md") else None
    s.callback(s.stop)
    s.devices.append(s.appears(node))
    s.says.append(f"md{which}")
    # Its superblocks say that it is clean when it has been idle for 0.2 s.
    time.sleep(0.5)
    return *members, node


def stopped(s, metadata):
    """A member of an array that is stopped: nobody uses it, and what is lost is said."""
    member, *_ = array(s, metadata)
    s.stop()
    # Its node is gone.
    s.devices.pop()
    s.says[:] = ["RAID", "raid", "md"]
    return member


def used(s, made, use, which, named):
    """One of the devices that were made is used, and one is named."""
    use(made[which])
    time.sleep(0.5)
    return made[named]


def nbd(s, path):
    """A network block device that serves this file."""
    node = next((f"/dev/nbd{n}" for n in range(16) if read_or(f"/sys/block/nbd{n}/size", "x") == "0"), None)
    if not node:
        raise CannotBeMade("there is no nbd")
    s.started(sys.executable, os.path.join(HERE, "nbd.py"), node, path)
    retried(lambda: sectors(node) or ran("false"))
    s.devices.append(node)
    s.says += [kernel_name(node), "process "]
    return node


def read_or(path, otherwise):
    return read(path) if os.path.exists(path) else otherwise


def halves(s, device):
    half = sectors(device) // 2
    return linear(s, device, 0, half), linear(s, device, half, half)


def idle(device):
    """Not used at all."""
    return device


USED = [
    ("a mounted dm-crypt", lambda s: s.mounted(crypt(s, s.disk()))),
    ("the disk under a mounted dm-crypt", lambda s: under_a(s, crypt)),
    ("the disk under an idle dm-crypt", lambda s: under_a(s, crypt, idle)),
    ("the disk under a dm-crypt with swap", lambda s: under_a(s, crypt, s.swap)),
    ("a loop over the disk under a mounted dm-crypt", lambda s: s.loop(s.node(under_a(s, crypt)))),
    ("a dm-crypt over the other node of a mounted loop's disk", lambda s: crypt(s, under(s, s.node))),
    ("the second of two mappings of a disk, the first is mounted", lambda s: twice(s, s.mounted)),
    ("the second of two mappings of a disk, the first is open", lambda s: twice(s, lambda d: s.held("write", d))),
    ("a mapping of a loop over a mounted mapping", lambda s: linear(s, s.loop(s.node(s.mounted(linear(s, s.disk())))))),
    ("a mapping that is mounted in another namespace", lambda s: s.mounted_elsewhere(linear(s, s.disk()))),
    ("the disk under a mapping that is mounted in another namespace", lambda s: under_a(s, linear, s.mounted_elsewhere)),
    ("a mapping that a process in another pid namespace has", lambda s: s.held("write", linear(s, s.disk()), None, PRIVATE_PIDS)),
    ("a mounted logical volume", lambda s: used(s, volumes(s), s.mounted, 1, 1)),
    ("the disk of a mounted logical volume", lambda s: used(s, volumes(s), s.mounted, 1, 0)),
    ("the disk of idle logical volumes", lambda s: used(s, volumes(s), idle, 1, 0)),
    ("a logical volume that is swap", lambda s: used(s, volumes(s), s.swap, 2, 2)),
    ("a mounted array", lambda s: used(s, array(s, "1.2"), s.mounted, 2, 2)),
    ("a member of a mounted array, 0.90", lambda s: used(s, array(s, "0.90"), s.mounted, 2, 0)),
    ("a member of a mounted array, 1.0", lambda s: used(s, array(s, "1.0"), s.mounted, 2, 1)),
    ("a member of a mounted array, 1.2", lambda s: used(s, array(s, "1.2"), s.mounted, 2, 1)),
    ("a member of an idle array", lambda s: used(s, array(s, "1.2"), idle, 2, 0)),
    ("a loop over a member of a mounted array", lambda s: s.loop(s.node(used(s, array(s, "1.0"), s.mounted, 2, 1)))),
    ("a path to a disk that is mounted by another path", lambda s: used(s, paths(s), s.mounted, 0, 1)),
    ("the same the other way round", lambda s: used(s, paths(s), s.mounted, 1, 0)),
    ("a path to a disk that is open by another path", lambda s: used(s, paths(s), lambda d: s.held("write", d), 0, 1)),
    ("a path to a disk that has swap by another path", lambda s: used(s, paths(s), s.swap, 0, 1)),
    ("a path of a mounted multipath device", lambda s: with_multipath(s, s.mounted, 0)),
    ("a path of an idle multipath device", lambda s: with_multipath(s, idle, 1)),
    ("a path beside a multipath device that lacks it", lambda s: beside_multipath(s)),
    ("a loop over a path to a disk that is mounted by another", lambda s: s.loop(s.node(used(s, paths(s), s.mounted, 0, 1)))),
    ("an nbd that its client has open", lambda s: nbd(s, s.image())),
    ("a mounted nbd", lambda s: s.mounted(nbd(s, s.image()))),
    ("a loop over a mounted nbd", lambda s: s.loop(s.node(s.mounted(nbd(s, s.image()))))),
    ("a loop whose file is served by nbd", lambda s: served_by_nbd(s)),
    ("the disk that is served by nbd", lambda s: disk_served_by_nbd(s)),
]

# Confirmed, they are written to; what is said to be lost has one of the scene's words.
UNUSED = [
    ("a dm-crypt", lambda s: spoken(s, crypt(s, s.disk()))),
    ("an array", lambda s: spoken(s, array(s, "1.2")[2])),
    ("a member of a stopped array, 0.90", lambda s: stopped(s, "0.90")),
    ("a member of a stopped array, 1.0", lambda s: stopped(s, "1.0")),
    ("a member of a stopped array, 1.2", lambda s: stopped(s, "1.2")),
]


# A word that is not the device's own.
CONFIRMATIONS = [
    ("a namespace by the word of another", lambda s: namespaces(s)[:2]),
    ("a namespace by the serial number of its controller", lambda s: namespaces(s)[::2]),
]


def namespaces(s):
    """A namespace that nobody uses, the word of another one, and the serial number of their controller."""
    one, other = s.disk(), s.disk()
    return one, s.identities[other], read(f"/sys/block/{kernel_name(one)}/device/serial").strip()


def spoken(s, device):
    """Nothing need be said of it."""
    s.says.clear()
    return device


def under_a(s, layer, use=None):
    disk = s.disk()
    (use or s.mounted)(layer(s, disk))
    return disk


def twice(s, use):
    disk = s.disk()
    use(linear(s, disk))
    return linear(s, disk)


def with_multipath(s, use, named):
    both = paths(s)
    use(multipath(s, *both))
    return both[named]


def beside_multipath(s):
    one, other = paths(s)
    s.mounted(multipath(s, one))
    return other


def served_by_nbd(s):
    path = s.image()
    loop = s.loop(path)
    s.mounted(nbd(s, path))
    return loop


def disk_served_by_nbd(s):
    disk = s.disk()
    s.mounted(nbd(s, disk))
    return disk
