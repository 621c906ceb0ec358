"""The program as the table and the races run it, and what they find wrong."""

import os
import re
import signal
import subprocess
import sys
import time

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
    "experiment": '[experiment]\nname = "writes"\npairs = 2\nseed = 1\nprimary = ["w.iops"]\n[workload]\nname = "writes"\n'
    "[workload.defaults]\n" + PHASE + WRITES.format("workload.")
    + '[[arm]]\nname = "one"\n[[arm]]\nname = "other"\nset = { depth = 2 }\n',
}
PATIENCE_S = 120
NOT_THIS_ONE = ["--destroy", "NOT-THIS-ONE"]


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
        self.since = time.monotonic()
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
        self.scenes += 1
        return Scene(os.path.join(self.directory, f"scene{self.scenes}"), self.asked, self.identity_of)

    def identity_of(self, device):
        """What --destroy has to say, in the program's own words, for a device that nobody uses."""
        command = [self.program, "run", self.texts["run"], device, *NOT_THIS_ONE]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.directory)
        return confirmation_in(done.stdout) or os.path.basename(device)

    def started(self, scene, before, arguments):
        """The program, at work; each user has an archive of its own."""
        self.calls += 1
        home = os.path.join(self.directory, f"home-{scene.user or 0}")
        if not os.path.exists(home):
            os.mkdir(home)
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

    def complain(self, title, call, why, said):
        """One thing that is wrong."""
        self.wrong.append(f"{title} | {call} | {why}")
        print(f"FAILED: {title} | {call} | {why}\n    " + "\n    ".join(said.strip().splitlines()[:6]), flush=True)

    def rows(self, kind, table, judge):
        """Judges each row, and says how each went."""
        for what, *row in table:
            title = f"{kind}: {what}"
            if not self.is_asked_for(title):
                continue
            since, calls, wrong = time.monotonic(), self.calls, len(self.wrong)
            try:
                judge(title, *row)
            except CannotBeMade as reason:
                self.skipped.append(title)
                print(f"SKIPPED: {title}: {reason}", flush=True)
                continue
            state = "ok     " if len(self.wrong) == wrong else "FAILED "
            print(f"{state} {title}: {self.calls - calls} calls, {time.monotonic() - since:.1f} s", flush=True)

    def conclude(self, must_run=False):
        """The exit code: 0 if nothing is wrong."""
        if must_run:
            self.wrong += [f"{title} | was skipped" for title in self.skipped]
        seconds = time.monotonic() - self.since
        print(f"{self.calls} calls, {len(self.wrong)} wrong, {len(self.skipped)} rows skipped, in {seconds:.0f} s")
        for wrong in self.wrong:
            print(f"   {wrong}")
        return 1 if self.wrong or not self.calls else 0
