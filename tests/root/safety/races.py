"""What was checked is what is written, at whatever moment the name comes to mean something else.

At the N-th system call on the target the program is stopped (by strace, which injects SIGSTOP), the name is given to something
else, and the program goes on; for every N, until it makes no more such calls. What the name means then never changes.

    races.py DIRECTORY [--only TEXT]      NARROWS is the program
"""

import argparse
import contextlib
import os
import re
import signal
import sys
import time

from program import PATIENCE_S, Program, destroy
from scene import MIB, CannotBeMade, need

# Calls that take a path, and those that ask about what was opened.
CALLS = "%file,ioctl,flock,fstat,fstatfs"
STOPPED = re.compile(r"^(\d+) +--- stopped by SIGSTOP ---$", re.MULTILINE)
MOST_STOPS = 200
# Measured; a busy machine may refuse the numbers.
DONE = (0, 4)


def at_once(make):
    """Gives the name to what `make` makes, without a moment in between."""

    def swap(target):
        make(target + ".new")
        os.rename(target + ".new", target)

    return swap


def to_symlink(victim):
    """To a symlink; a directory has to go away first."""

    def swap(target):
        if os.path.isdir(target):
            os.rename(target, target + ".old")
        os.symlink(victim, target + ".new")
        os.rename(target + ".new", target)

    return swap


def to_node(victim):
    """To a node of this device."""
    return at_once(lambda new: os.mknod(new, 0o060600, os.stat(victim).st_rdev))


def only(s, make):
    """What must not change is what `make` makes."""
    others = len(s.contents)
    victim = make()
    del s.contents[:others]
    return victim


def file_to_symlink(s):
    target = s.image()
    return target, to_symlink(only(s, s.image)), ["--overwrite"]


def file_to_locked(s):
    target = s.image()
    victim = s.held("ofd-lock", only(s, s.image))
    return target, at_once(lambda new: os.link(victim, new)), ["--overwrite"]


def file_to_device(s):
    target = s.image()
    return target, to_symlink(only(s, s.disk)), ["--overwrite"]


def parent_to_symlink(s):
    """The directory of the file becomes a symlink to one with a file of the same name."""
    target, victim = os.path.join(s.path("one"), "file"), os.path.join(s.path("other"), "file")
    for path in (target, victim):
        os.mkdir(os.path.dirname(path))
        os.rename(s.image(), path)
    s.contents[:] = [victim]
    return target, lambda path: to_symlink(os.path.dirname(victim))(os.path.dirname(path)), ["--overwrite"]


def node(s, swap, use=lambda device: device):
    confirmed = s.disk()
    victim = use(only(s, s.disk))
    return s.node(confirmed), swap(victim), destroy(os.path.basename(confirmed))


def directory(s):
    """With files of the names that the workload uses."""
    s.mounted(s.loop(s.image(640 * MIB)))
    target, other = os.path.join(s.place, "target"), os.path.join(s.place, "other")
    os.mkdir(target)
    os.mkdir(other)
    s.contents[:] = [os.path.join(other, "data")]
    with open(s.contents[0], "wb") as file:
        file.write(os.urandom(2 * MIB))
    return target, to_symlink(other), []


RUN = [lambda texts, target: ["run", texts["run"], target]]
EXPERIMENT = [*RUN, lambda texts, target: ["run", texts["experiment"], target]]
FILES = [lambda texts, target: ["run", texts["run"], target, "--set", "files=[\"data\"]"]]
REPORT = [lambda texts, target: ["report", "latest", "-o", target]]

# What, how it is made: the target, the swap and the confirmation; and the commands.
CHANGES = [
    # The longest first.
    ("a node becomes that of another device", lambda s: node(s, to_node), EXPERIMENT),
    ("a file becomes a symlink to another", file_to_symlink, EXPERIMENT),
    ("a file becomes another name of a locked one", file_to_locked, RUN),
    ("a file becomes a symlink to a device", file_to_device, RUN),
    ("the directory of a file becomes a symlink", parent_to_symlink, RUN),
    ("a node becomes a symlink to another device", lambda s: node(s, to_symlink), RUN),
    ("a node becomes that of a mounted device", lambda s: node(s, to_node, s.mounted), RUN),
    ("a directory becomes a symlink to another", directory, FILES),
    ("a page becomes a symlink to a file", lambda s: (*file_to_symlink(s)[:2], []), REPORT),
    ("a page becomes a symlink to a device", lambda s: (*file_to_device(s)[:2], []), REPORT),
]


class Races(Program):
    """Changes x commands x calls."""

    def judge(self, title, make, words, first):
        """Every second call of a command, from this one on."""
        for which in range(first, MOST_STOPS, 2):
            with self.scene() as scene:
                target, swap, confirmation = make(scene)
                scene.settle()
                at, code, said = self.stopped(which, scene, target, swap, words(self.texts, target) + confirmation)
                if at is None:
                    break
                if not scene.is_settled():
                    self.complain(title, f"call {which}, {at}", f"exit {code}, AND THE OTHER CHANGED", said)
        # Left alone, the program does what it was asked for: else nothing would have been shown.
        if which == 1 or code not in DONE:
            self.complain(title, "left alone", f"exit {code} after {which - 1} calls on {target}", said)

    def stopped(self, which, scene, target, swap, arguments):
        """Runs the program, with the swap at its call of this number: what that was (nothing if it made fewer), and its end."""
        log, (parent, name) = scene.path("log"), os.path.split(target)
        paths = [word for path in (target, parent, name) for word in ("-P", path)]
        strace = ["strace", "-f", "-qq", "-o", log, *paths]
        strace += ["-e", f"trace={CALLS}", "-e", f"inject={CALLS}:signal=SIGSTOP:when={which}"]
        at, seen, until = None, 0, time.monotonic() + PATIENCE_S
        with self.started(scene, strace, arguments) as process:
            while process.poll() is None:
                said = ""
                if os.path.exists(log):
                    with open(log, errors="replace") as file:
                        said = file.read()
                stops = list(STOPPED.finditer(said))
                for stop in stops[seen:]:
                    if at is None:
                        at = [line for line in said[: stop.start()].splitlines() if "(" in line][-1].split("=")[0].strip()
                        swap(target)
                    # Each thread says that it stops, and the first signal wakes them all: one may have ended before its own.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(stop.group(1)), signal.SIGCONT)
                seen = len(stops)
                if time.monotonic() > until:
                    process.kill()
                    raise CannotBeMade(f"{arguments}: it does not end")
                time.sleep(0.002)
            return at, process.returncode, process.stdout.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--only", help="changes whose title has this regular expression")
    asked = parser.parse_args()
    asked.spare, asked.paths = [], []
    races = Races(asked)
    with races.scene() as scene:
        races.narrows(scene, [], ["run", "latency", "sim:a1-card"])
    rows = [
        (f"{what}, {words(races.texts, 'it')[0]} {number}, calls {first}, {first + 2}, ...", make, words, first)
        for what, make, commands in CHANGES
        for number, words in enumerate(commands)
        for first in (1, 2)
    ]
    races.rows("race", rows, races.judge, 2)
    return races.conclude()


if __name__ == "__main__":
    sys.exit(main())
