"""Ways of use that take several steps of a `Scene`."""

import os

from scene import CannotBeMade, MIB, NOBODY, kernel_name, need, ran, unmounted

PRIVATE_PIDS = ("unshare", "-p", "-f", "--mount-proc")

# The smallest for two members, with data and metadata in the same groups.
BTRFS_BYTES = 48 * MIB


def backing(s, loop):
    """The file of a loop device."""
    s.says.append(kernel_name(loop))
    return open(f"/sys/block/{kernel_name(loop)}/loop/backing_file").read().strip()


def second_loop(s, first, offset=0):
    """Another loop device over the same file."""
    return s.loop(backing(s, first), offset)


def under(s, through=lambda d: d, use=None, device=None, unlink=False):
    """The device below a loop that is used; the loop knows it by another path."""
    device = device or s.disk()
    path = through(device)
    loop = s.loop(path)
    if unlink:
        os.unlink(path)
    (use or s.mounted)(loop)
    s.says.append(kernel_name(loop))
    return device


def nested(s):
    """A disk is mounted, and a file on it is that of a loop, which is mounted: the disk is named."""
    disk = s.mounted(s.loop(s.image(24 * MIB)))
    path = os.path.join(s.place, "inner")
    with open(path, "wb") as file:
        file.write(os.urandom(8 * MIB))
    s.mounted(s.loop(path))
    return disk


def held_by(s, how, device, other):
    """Held by another path than the one that is named."""
    s.held(how, other(device))
    return device


def bind_of_dev(s, device):
    """The node through a bind mount of /dev."""
    return os.path.join(s.bound("/dev"), os.path.relpath(device, "/dev"))


def hard_link(s, path):
    """Another name of a file, which is the one that is named."""
    s.count += 1
    other = f"{path}-link{s.count}"
    try:
        os.link(path, other)
    except PermissionError:
        # A file system without hard links, as the one of fuse.py.
        return path
    return other


def parts(s):
    """A disk and two partitions of it."""
    disk = s.disk()
    return disk, s.partition(disk, 1, MIB, 3 * MIB), s.partition(disk, 2, 4 * MIB, 4 * MIB)


def parts_with(s, use, used, named):
    """One of disk, first and second partition is used, and one is named."""
    all_of_them = parts(s)
    use(all_of_them[used])
    return all_of_them[named]


def words_of_parts(s, named, confirmed):
    """One of disk, first and second partition, and what --destroy wants to be told for another."""
    devices = parts(s)
    s.known(devices[0])
    return devices[named], s.identities[devices[confirmed]]


def called_like(s, device, other):
    """A link to the device that has the name of another one, and that name."""
    links = s.path("links")
    os.mkdir(links)
    os.symlink(device, os.path.join(links, os.path.basename(other)))
    return os.path.join(links, os.path.basename(other)), os.path.basename(other)


def beside(s):
    """A partition that nobody uses, beside one that is mounted. Whether a process that cannot be looked into has the whole disk
    open, the kernel's count does not tell then, and the partition is rightly refused."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            os.readlink(f"/proc/{pid}/cwd")
        except PermissionError:
            raise CannotBeMade(f"process {pid} cannot be looked into, not even by root") from None
        except OSError:
            pass  # It has ended.
    device = parts_with(s, s.mounted, 1, 2)
    s.says.clear()
    return device


def btrfs(s, which):
    """Two members of a mounted file system, of which one is named."""
    need("mkfs.btrfs")
    members = [s.loop(s.image(BTRFS_BYTES)) for _ in range(2)]
    ran("mkfs.btrfs", "-q", "-f", "-K", "-M", "-d", "single", "-m", "single", *members)
    ran("btrfs", "device", "scan", *members)
    place = s.path("mount")
    os.mkdir(place)
    ran("mount", "-t", "btrfs", "-o", "noatime,commit=300", members[0], place)
    s.callback(unmounted, place)
    s.says += [place, "btrfs"]
    return members[which]


def file_used(s, use):
    """A loop device over a file that is used as well."""
    path = s.image()
    loop = s.loop(path)
    use(path)
    return loop


def served(s, named, mounted=True):
    """A file behind FUSE, whose server has it; a loop over the one that FUSE shows is mounted."""
    path = s.image()
    shown = s.fuse(path)
    if mounted:
        loop = s.mounted(s.loop(shown))
        s.says.append(kernel_name(loop))
    return {"own path": path, "through FUSE": shown}[named]


def swap_file(s):
    path = s.file_inside(4 * MIB)
    os.chmod(path, 0o600)
    return s.swap(path)


def as_nobody(s, path):
    """The program runs as a user who may write to it, and who cannot see what root's processes have open."""
    s.user = NOBODY
    before = os.stat(path)
    os.chown(path, NOBODY, NOBODY)
    s.callback(os.chown, path, before.st_uid, before.st_gid)
    s.says += ["cannot be seen", "cannot be looked", "root", "lock"]
    return path


def alone(s, path):
    """The program runs in a pid namespace of its own, from which the holder cannot be seen."""
    s.wrapper = [*PRIVATE_PIDS]
    s.says.append("namespace")
    return path


def without_proc(s, path):
    """The program runs where there is no /proc."""
    s.wrapper = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    s.says.append("/proc")
    return path
