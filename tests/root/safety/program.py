"""The program as the table and the races run it, and what they find wrong."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

from scene import CannotBeMade, Scene, write

PHASE = """access = "direct"
block-size = "4KiB"
region = "1MiB"
time = "200ms"
"""
WRITES = """[[{0}phase]]
name = "w"
operation = "write"
order = "random"
"""
# What is executed: a workload, and an experiment of two arms.
TEXTS = {
    "run": 'name = "writes"\n[defaults]\n' + PHASE + WRITES.format(""),
    "experiment": '[experiment]\nname = "writes"\npairs = 1\nseed = 1\nprimary = ["w.iops"]\n[workload]\nname = "writes"\n'
    "[workload.defaults]\n" + PHASE + WRITES.format("workload.")
    + '[[arm]]\nname = "one"\n[[arm]]\nname = "other"\nset = { depth = 2 }\n',
}
PATIENCE_S = 120
NOT_THIS_ONE = "NOT-THIS-ONE"


def destroy(word):
    """What allows a device to be lost."""
    return ["--destroy", word]


def confirmation_in(said):
    """What a refusal says that would be right."""
    named = re.search(r"--destroy (?!NOT-THIS-ONE)(\S+)", said)
    return named and named.group(1)


class Program:
    """Runs NARROWS on scenes below a directory, and counts."""

    def __init__(self, asked):
        self.asked, self.directory, self.only = asked, asked.directory, asked.only
        self.program = os.environ["NARROWS"]
        self.calls, self.scenes, self.wrong, self.skipped = 0, 0, [], []
        self.since, self.lock = time.monotonic(), threading.Lock()
        self.texts = {name: os.path.join(self.directory, f"{name}.toml") for name in TEXTS}
        for name, path in self.texts.items():
            write(path, TEXTS[name])
        # Whatever ends us undoes what was made.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))

    def is_asked_for(self, title):
        """Whether this part of the table was asked for."""
        return not self.only or re.search(self.only, title)

    def scene(self):
        """An empty one."""
        with self.lock:
            self.scenes += 1
            directory = os.path.join(self.directory, f"scene{self.scenes}")
        return Scene(directory, self.asked, self.identity_of)

    def identity_of(self, device):
        """What --destroy has to say, in the program's own words, for a device that nobody uses."""
        command = [self.program, "run", self.texts["run"], device, *destroy(NOT_THIS_ONE)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.directory)
        return confirmation_in(done.stdout) or os.path.basename(device)

    def started(self, scene, before, arguments):
        """The program, at work; each user has an archive of its own."""
        with self.lock:
            self.calls += 1
        home = os.path.join(self.directory, f"home-{scene.user or 0}")
        os.makedirs(home, exist_ok=True)
        os.chown(home, scene.user or 0, scene.user or 0)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C"}
        command = [*scene.wrapper, *before, self.program, *arguments, "--archive", os.path.join(home, "archive")]
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            cwd=scene.directory, env=environment, user=scene.user,
        )

    def narrows(self, scene, before, arguments):
        """Exit code, and what was said."""
        with self.started(scene, before, arguments) as process:
            try:
                said, _ = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                said = f"killed after {PATIENCE_S} s"
            return process.wait(), said

    def say(self, text):
        """A line of the log."""
        with self.lock:
            print(text, flush=True)

    def complain(self, title, call, why, said):
        """One thing that is wrong."""
        self.wrong.append(f"{title} | {call} | {why}")
        self.say(f"FAILED: {title} | {call} | {why}\n    " + "\n    ".join(said.strip().splitlines()[:8]))

    def rows(self, kind, table, judge, at_once=1):
        """Judges each row, and says how each went; so many at once."""
        asked = [(f"{kind}: {what}", row) for what, *row in table if self.is_asked_for(f"{kind}: {what}")]
        asked.reverse()

        def work():
            # A list's pop is atomic.
            while asked:
                self.row(*asked.pop(), judge)

        workers = [threading.Thread(target=work) for _ in range(at_once)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def row(self, title, row, judge):
        """Judges one."""
        since = time.monotonic()
        try:
            judge(title, *row)
            wrong = sum(w.startswith(f"{title} | ") for w in self.wrong)
            self.say(f"{'FAILED ' if wrong else 'ok     '} {title}: {time.monotonic() - since:.1f} s")
        except CannotBeMade as reason:
            self.skipped.append(title)
            self.say(f"SKIPPED: {title}: {reason}")
        except Exception as error:  # Whatever it is, the other rows go on.
            self.complain(title, "the row itself", repr(error), traceback.format_exc())

    def conclude(self, must_run=False):
        """The exit code: 0 if nothing is wrong."""
        if must_run:
            self.wrong += [f"{title} | was skipped" for title in self.skipped]
        seconds = time.monotonic() - self.since
        print(f"{self.calls} calls, {len(self.wrong)} wrong, {len(self.skipped)} rows skipped, in {seconds:.0f} s")
        for wrong in self.wrong:
            print(f"   {wrong}")
        return 1 if self.wrong or not self.calls else 0
