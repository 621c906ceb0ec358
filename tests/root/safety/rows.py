"""The table: every way in which a device or file can be in use or aliased, every way to name it, every command.

A line more is a row more. A way of use gets a `Scene` and returns the device or file that is then named; whatever it made
keeps its content, and the refusal names who holds it.
"""

import os

from scene import MIB, NOBODY
from uses import (
    PRIVATE_PIDS, alone, as_nobody, backing, beside, bind_of_dev, btrfs, called_like, file_used, hard_link, held_by, nested, parts_with,
    second_loop, served, swap_file, under, without_proc, words_of_parts,
)

# Never written to, however it is named.
DEVICES = [
    ("mounted", lambda s: s.mounted(s.disk())),
    ("mounted read-only", lambda s: s.mounted(s.disk(), "ro")),
    ("mounted in another mount namespace only", lambda s: s.mounted_elsewhere(s.disk())),
    ("a second loop over the file of a mounted one", lambda s: second_loop(s, s.mounted(s.loop()))),
    ("a second loop over it, with an offset", lambda s: second_loop(s, s.mounted(s.loop()), 4 * MIB)),
    ("a loop over the whole file, of which a part is mounted", lambda s: second_loop(s, s.mounted(s.loop(None, 2 * MIB)))),
    ("a second loop over its hard link", lambda s: s.loop(hard_link(s, backing(s, s.mounted(s.loop()))))),
    ("a second loop over its bind mount", lambda s: s.loop(s.bound(backing(s, s.mounted(s.loop()))))),
    ("a second loop over one that is mounted elsewhere", lambda s: second_loop(s, s.mounted_elsewhere(s.loop()))),
    ("a second loop over the file of an idle one", lambda s: second_loop(s, s.loop())),
    ("a loop over a mounted device", lambda s: s.loop(s.mounted(s.disk()))),
    ("a loop over another node of a mounted device", lambda s: s.loop(s.node(s.mounted(s.disk())))),
    ("a loop over a loop over a mounted device", lambda s: s.loop(s.loop(s.node(s.mounted(s.disk()))))),
    ("the device under a mounted loop", lambda s: under(s)),
    ("the device under a mounted loop over a node outside /dev", lambda s: under(s, s.node)),
    ("the device under a mounted loop over a node that is gone", lambda s: under(s, s.node, unlink=True)),
    ("the device under a loop under a mounted loop", lambda s: under(s, lambda d: s.loop(s.node(d)))),
    ("the device under a loop that is mounted elsewhere", lambda s: under(s, s.node, s.mounted_elsewhere)),
    ("the device under an idle loop", lambda s: under(s, s.node, lambda d: d)),
    ("the disk of a mounted partition", lambda s: parts_with(s, s.mounted, 1, 0)),
    ("a mounted partition", lambda s: parts_with(s, s.mounted, 1, 1)),
    ("a partition of a mounted disk", lambda s: parts_with(s, s.mounted, 0, 1)),
    ("a loop over the disk of a mounted partition", lambda s: s.loop(s.node(parts_with(s, s.mounted, 1, 0)))),
    ("the disk of a partition under a mounted loop", lambda s: parts_with(s, lambda p: under(s, s.node, device=p), 1, 0)),
    ("the disk of a file whose loop is mounted", nested),
    ("btrfs, the first of two members", lambda s: btrfs(s, 0)),
    ("btrfs, the second of two members", lambda s: btrfs(s, 1)),
    ("swap", lambda s: s.swap(s.loop())),
    ("the device under a loop with swap", lambda s: under(s, s.node, s.swap)),
    ("zram with swap", lambda s: s.swap(s.zram())),
    ("a loop over a mounted zram", lambda s: s.loop(s.node(s.mounted(s.zram())))),
    ("open for reading", lambda s: s.held("read", s.disk())),
    ("open for writing", lambda s: s.held("write", s.disk())),
    ("open exclusively", lambda s: s.held("excl", s.disk())),
    ("open by another user's process", lambda s: s.held("write", s.disk(), NOBODY)),
    ("open in another pid namespace", lambda s: s.held("write", s.disk(), None, PRIVATE_PIDS)),
    ("open through another node", lambda s: held_by(s, "write", s.disk(), s.node)),
    ("open through a bind mount of /dev", lambda s: held_by(s, "write", s.disk(), lambda d: bind_of_dev(s, d))),
    ("open through a bind mount of its node", lambda s: held_by(s, "write", s.disk(), s.bound)),
    ("mapped by a process that closed it", lambda s: s.held("mapping", s.disk())),
    ("the disk of an open partition", lambda s: parts_with(s, lambda p: s.held("write", p), 1, 0)),
    ("a partition of an open disk", lambda s: parts_with(s, lambda p: s.held("write", p), 0, 1)),
    ("a loop whose file another process has open for writing", lambda s: file_used(s, lambda f: s.held("write", f))),
    ("a loop whose file is an emulator's image", lambda s: file_used(s, lambda f: s.held("emulator", f))),
    ("a loop whose file is served by FUSE", lambda s: file_used(s, s.fuse)),
    ("a loop over a device that is open", lambda s: s.loop(s.node(s.held("write", s.disk())))),
    ("open, and we are another user", lambda s: as_nobody(s, s.held("read", s.disk()))),
    ("open, and we are in a pid namespace of our own", lambda s: alone(s, s.held("read", s.disk()))),
    ("open, and we have no /proc", lambda s: without_proc(s, s.held("read", s.disk()))),
]

FILES = [
    ("the file of a mounted loop", lambda s: backing(s, s.mounted(s.loop()))),
    ("the file of a mounted loop, by a hard link", lambda s: hard_link(s, backing(s, s.mounted(s.loop())))),
    ("the file of a loop that is mounted elsewhere", lambda s: backing(s, s.mounted_elsewhere(s.loop()))),
    ("the file of an idle loop", lambda s: backing(s, s.loop())),
    ("the file of an idle loop, by a hard link", lambda s: hard_link(s, backing(s, s.loop()))),
    ("the file of an idle loop with an offset", lambda s: backing(s, s.loop(None, MIB))),
    ("the file of a read-only loop", lambda s: backing(s, s.loop(None, 0, "-r"))),
    ("the file of a loop with swap", lambda s: backing(s, s.swap(s.loop()))),
    ("the file behind FUSE of a mounted loop", lambda s: served(s, "own path")),
    ("the file of a mounted loop through FUSE", lambda s: served(s, "through FUSE")),
    ("the file behind FUSE", lambda s: served(s, "own path", mounted=False)),
    ("active swap", swap_file),
    ("active swap, by a hard link", lambda s: hard_link(s, swap_file(s))),
    ("open for writing", lambda s: s.held("write", s.image())),
    ("open for writing by another user's process", lambda s: s.held("write", s.image(), NOBODY)),
    ("open for writing in another pid namespace", lambda s: s.held("write", s.image(), None, PRIVATE_PIDS)),
    ("open for writing by a hard link", lambda s: held_by(s, "write", s.image(), lambda f: hard_link(s, f))),
    ("open for writing through a bind mount", lambda s: held_by(s, "write", s.image(), s.bound)),
    ("mapped by a process that closed it", lambda s: s.held("mapping", s.image())),
    ("flock", lambda s: s.locked("flock", s.image())),
    ("shared flock", lambda s: s.locked("shared-flock", s.image())),
    ("POSIX lock for writing", lambda s: s.locked("posix-write-lock", s.image())),
    ("POSIX lock for reading", lambda s: s.locked("posix-read-lock", s.image())),
    ("OFD lock", lambda s: s.locked("ofd-lock", s.image())),
    ("read lease", lambda s: s.locked("read-lease", s.image())),
    ("write lease", lambda s: s.locked("write-lease", s.image())),
    ("an emulator's image, by its locks", lambda s: s.locked("emulator", s.image())),
    ("an image of QEMU", lambda s: s.emulator(s.image())),
    ("locked, and we are another user", lambda s: as_nobody(s, s.locked("ofd-lock", s.image()))),
    ("open for writing, and we have no /proc", lambda s: without_proc(s, s.held("write", s.image()))),
]

# What may be written to when it is confirmed, and is: a table of refusals alone would pass a program that does nothing.
UNUSED_DEVICES = [
    ("a loop device", lambda s: s.loop()),
    ("a disk", lambda s: s.disk()),
    ("zram", lambda s: s.zram()),
    ("a loop over an idle loop", lambda s: s.loop(s.node(s.loop()))),
    ("a partition beside a mounted one", lambda s: beside(s)),
    ("a loop over a file on a mounted file system", lambda s: s.loop(s.file_inside())),
]

UNUSED_FILES = [
    ("a file", lambda s: s.image()),
    ("a file with two names", lambda s: hard_link(s, s.image())),
    ("a file on a file system of a loop", lambda s: s.file_inside()),
    ("a file that was open", lambda s: s.closed(s.image())),
]

# A device that nobody uses, and a word that is not its own: refused by every command.
CONFIRMATIONS = [
    ("a disk by the word of its partition", lambda s: words_of_parts(s, 0, 1)),
    ("a partition by the word of its disk", lambda s: words_of_parts(s, 1, 0)),
    ("a partition by the word of its neighbour", lambda s: words_of_parts(s, 2, 1)),
    ("a device by the word of another", lambda s: (s.known(s.loop()), s.identities[s.known(s.loop())])),
    ("a device by a link with the name of another", lambda s: called_like(s, s.loop(), s.loop())),
]

# Each gives a word for the command line; what runs before the program comes in front of it.
NAMES_OF_BOTH = [
    ("as it is", lambda s, path: ([], path)),
    ("a symlink", lambda s, path: ([], s.symlink(path))),
    ("a chain of symlinks", lambda s, path: ([], s.symlink(s.symlink(s.symlink(path))))),
    ("a descriptor", lambda s, path: (["sh", "-c", 'exec 9<"$0"; exec "$@"', path], "/proc/self/fd/9")),
    ("a bind mount", lambda s, path: ([], s.bound(path))),
    ("a relative path", lambda s, path: ([], os.path.relpath(path, s.directory))),
]
NAMES_OF_DEVICES = [
    *NAMES_OF_BOTH,
    ("another node", lambda s, path: ([], s.node(path))),
    ("/dev/block/MAJOR:MINOR", lambda s, path: ([], s.by_number(path))),
    ("a bind mount of /dev", lambda s, path: ([], bind_of_dev(s, path))),
]
NAMES_OF_FILES = [
    *NAMES_OF_BOTH,
    ("a hard link", lambda s, path: ([], hard_link(s, path))),
    ("a bind mount of its directory", lambda s, path: ([], os.path.join(s.bound(os.path.dirname(path)), os.path.basename(path)))),
]

# A descriptor that the program inherits is one more opening, of which nobody knows what becomes: refused for a file, and for
# a device where the kernel's count of openings has to make up for a process that cannot be looked into.
NAMES_OF_UNUSED_FILES = [name for name in NAMES_OF_FILES if name[0] != "a descriptor"]
NAMES_OF_UNUSED_DEVICES = [name for name in NAMES_OF_DEVICES if name[0] != "a descriptor"]

COMMANDS = [
    ("check", lambda texts, target: ["check", target, "--budget", "3s", "--max-write", "160MB"]),
    ("run", lambda texts, target: ["run", texts["run"], target]),
    ("experiment", lambda texts, target: ["run", texts["experiment"], target]),
]

# Commands that write a page or table; none of them ever writes it onto a device.
OUTPUTS = [
    ("report -o", lambda device: ["report", "latest", "-o", device]),
    ("compare -o", lambda device: ["compare", "one", "other", "-o", device]),
    ("rank -o", lambda device: ["rank", "one", "other", "-o", device]),
    ("check --report", lambda device: ["check", "sim:a1-card", "--budget", "3s", "--report", device]),
    ("run --report", lambda device: ["run", "latency", "sim:a1-card", "--report", device]),
    ("export -o", lambda device: ["export", "latest", "--format", "csv", "-o", device]),
    ("inspect --capture", lambda device: ["inspect", "/", "--capture", device]),
]
