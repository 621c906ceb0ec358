"""Carries out each command of the tours: the lines of fenced blocks that begin with `narrows`, in their order, in one archive.

A command is made small by the first row of SMALL that fits, and must end with one of the row's exit codes (0 where none is named). What cannot be
carried out on any machine is in LEFT_OUT with its reason, and is printed. A command that fits no row runs as it stands.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
NARROWS = os.environ["NARROWS"]
# A measured number may be refused on a busy machine: ran, but the question is not answered.
DONE = (0, 4)
# Seconds that a command may take on a busy machine.
LIMIT = 400

# (commands that fit, what is put behind them, exit codes)
SMALL = [
    (r"check .*--plan", "", (0,)),
    (r"check .*--for", "--budget 5s --max-write 60MB", (0, 1, 4)),
    (r"check sim:|check null:", "", (0,)),
    (r"check .*--max-write", "--budget 5s", DONE),
    (r"check", "--budget 5s --max-write 60MB", DONE),
    (r"fill", "", DONE),
    (r"soak sim:", "", (1,)),
    (r"soak .*--for 72h", "", (0,)),
    (r"soak", "--for 3s", (0,)),
    (r"record plan", "--for 2s --max-write 60MB", (0, 1, 4)),
    (r"record .*--generate", "", (0,)),
    (r"rate .*wraps-at=.*--capacity", "", (1,)),
    (r"rate .*--capacity", "", DONE),
    (r"rate latest", "", (0, 1, 4)),
    (r"rate", "--budget 5s --max-write 60MB", (0, 1, 4)),
    (r"run .*--plan|tune .*--plan", "", (0,)),
    # A few minutes prove nothing on a busy machine; that it ends and says so is what is asked.
    # Nothing is kept here.
    (r"tune --verify", "", (3,)),
    # Of a search that proved nothing there is nothing to hand on, nor where none has ended.
    (r"tune --export", "", (0, 2, 4)),
    (r"tune", "--only read-ahead --budget 100s", DONE),
    (r"run bonnie", "--set region=16MiB --set file-count=256 --set time=200ms", DONE),
    (r"run files", "--set file-count=64 --set time=200ms", DONE),
    (r"run sweep", "--set region=16MiB --set time=100ms", DONE),
    (r"run steady", "--set region=16MiB --set steady-round=200ms", DONE),
    (r"run depth|run latency|run mix|run kdiskmark", "--set time=200ms --set region=32MiB", DONE),
    (r"run packages", "--set speed=max", DONE),
    (r"run boot|run app.log|run server.fio", "", DONE),
    (r"run frames", "--set time=300ms", DONE),
    (r"experiment run experiments/", "--set time=200ms --allow-commands", DONE),
    (r"experiment|settings", "", (0,)),
    # Nothing is unfinished here.
    (r"run --resume", "", (2,)),
    (r"compare .*--repeat", "", DONE),
    (r"compare before after", "", (0, 1, 4)),
    (r"why .*--confirm", "", DONE),
    # On a busy machine two cards may not be told from each other.
    (r"rank", "", (0, 4)),
    (r"watch", "1 2", (0,)),
]

# Numbers and times of a command itself, made small.
SUBSTITUTES = [
    (r"--for 72h", "--for 3s"), (r"--for 60s", "--for 1s"), (r"--for 5m", "--for 2s"),
    (r"--budget \w+", "--budget 5s"), (r"packages /mnt/card", "packages /mnt/data"), (r"why RUN", "why checked"),
    (r"--size 10GB|--size 4GB", "--size 64MB"), (r"4x2MB@30", "2x200kB@30"),
    (r"(watch \S+) 5$", r"\1"), (r"--repeat (10|6)", "--repeat 2"), (r"layers FILE", "layers video.raw"), (r"kdiskmark \. --set time=2s", "kdiskmark . --set time=100ms"),
    (r"--max-write (200MB|40GB)", "--max-write 60MB"), (r"--for 8h", "--for 3s"),
    # The table of the tests names its columns by the speed of the processor.
    (r"--predict install_s", "--predict install_1_s"),
    (r"\| jq .*", "| python3 -c 'import json,sys; assert json.load(sys.stdin)[\"limit\"] is not None'"),
]

# What has to be there before a command: others, carried out first.
BEFORE = [
    (r"compare before after", [f"narrows run mix /mnt/data --repeat 2 --tag {tag}" for tag in ("before", "after")]),
    (r"rank /mnt/card-a", [f"narrows check /mnt/card-{card}" for card in "ab"]),
    (r"export .*bonnie-csv", ["narrows run bonnie /mnt/card"]),
    (r"fleet/ -o|merge fleet/|site \.", ["narrows run mix /mnt/data --archive fleet/board-a"]),
    (r"why RUN", ["narrows check /mnt/data", "narrows runs tag latest checked"]),
]

LEFT_OUT = [
    (r"inspect --root", "an unpacked capture (the program's tests unpack those of the tree)"),
    (r"ffmpeg -i CAMERA", "a camera (tests/root/record.sh records from ffmpeg)"),
    (r"--camera", "a camera (the lab's machine microvm-camera has two)"),
    (r"--group", "a launcher, or ranks that start together (tests/root/group.sh and tests/trials/deploy.sh have them)"),
    (r"layers /dev/dm-0", "a device of device mapper (tests/root/layers.sh makes some)"),
    (r"merge board:", "another machine (tests/root/merge-by-ssh.sh has one)"),
    (r"history ack", "an event of that id (the program's tests acknowledge one)"),
    (r"--witness", "another machine (tests/root/soak-witness.sh has one)"),
    (r"record pin", "a recording that goes on meanwhile (the program's tests pin one)"),
    (r"record (list|export|verify|recover)", "a recording of that name (the program's tests read one)"),
    (r"tune /dev/loop0", "a device that its reader has just made (tests/trials/tune-finds.sh makes one)"),
    (r"/dev/mtd", "flash (the lab's machine q35-nor has one)"),
    (r"trace -o", "ptrace, which not every container allows (tests/root/trace.sh)"),
    (r"narrows experiment run experiments/a-a.toml .*--calibrate", "an hour (crates/program tests calibration on simulated devices)"),
]


def commands(text):
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside and re.match(r"narrows |ffmpeg .*narrows ", line) and "UTC" not in line:
            yield re.split(r"\s+#\s", line)[0].strip()


def files(text):
    """Files of a document that are shown whole, by their names."""
    return {name: body for name, body in re.findall(r"^```toml\n# (\w[\w-]*\.toml)\n(.*?)^```", text, re.M | re.S)}


def carried_out(line, here, environment):
    """Exit code and the end of what was printed; what takes too long is ended, and whatever it started."""
    with subprocess.Popen(["sh", "-c", line], cwd=here, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as child:
        try:
            printed, said = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGINT)
            try:
                child.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
            return f"no end within {LIMIT} s", ""
        return child.returncode, printed[-600:] + said[-1500:]


def sh(*words, **more):
    return subprocess.run(words, check=True, text=True, capture_output=True, **more).stdout.strip()


class Stage:
    """Loop devices and directories that stand for those of the documents."""

    def __init__(self, scratch):
        self.scratch, self.loops, self.mounts = scratch, [], []

    def loop(self, name, bytes_):
        image = os.path.join(self.scratch, name + ".img")
        with open(image, "wb") as file:
            file.truncate(bytes_)
        device = sh("losetup", "--find", "--show", image)
        self.loops.append(device)
        return device

    def mounted(self, name, bytes_):
        device, directory = self.loop(name, bytes_), os.path.join(self.scratch, name)
        os.mkdir(directory)
        sh("mkfs.ext4", "-q", device)
        sh("mount", device, directory)
        self.mounts.append(directory)
        return directory

    def clear(self):
        for directory in reversed(self.mounts):
            subprocess.run(["umount", directory], check=False)
        for device in self.loops:
            subprocess.run(["losetup", "--detach", device], check=False)


def prepared(stage):
    places = {f"/mnt/{name}": stage.mounted(name, size << 20) for name, size in
              [("card", 900), ("ssd", 900), ("data", 2400), ("a", 600), ("b", 600), ("shared", 900), ("nfs", 900)]}
    places.update({"/mnt/card-a": places["/mnt/a"], "/mnt/card-b": places["/mnt/b"]})
    here = places["/mnt/data"]
    for name in ("sdb", "sda"):
        places[f"/dev/{name}"] = stage.loop(name, 200 << 20)
    # The disk below /mnt/card.
    places["mmcblk0"] = os.path.basename(stage.loops[0])
    with open(os.path.join(here, "video.raw"), "wb") as file:
        file.write(os.urandom(64 << 20))
    with open(os.path.join(here, "server.fio"), "w") as file:
        file.write("[reader]\nrw=randread\nbs=4k\nsize=16m\nruntime=1\ntime_based\n")
    with open(os.path.join(here, "mine.toml"), "w") as file:
        file.write(sh(NARROWS, "workloads", "show", "latency"))
    with open(os.path.join(here, "app.log"), "w") as file:
        file.write("fio version 2 iolog\nx add\nx open\nx write 0 4096\nx read 0 4096\nx close\n")
    for name in ("experiments",):
        os.symlink(os.path.join(os.path.abspath(ROOT), name), os.path.join(here, name))
    foreign = os.path.join(ROOT, "crates/exchange/tests/exchange")
    for name, source in [("bonnie.csv", "studies/piix.bonnie.csv"), ("piix.bonnie.csv", "studies/piix.bonnie.csv"),
                         ("ahci.bonnie.csv", "studies/ahci.bonnie.csv"), ("cards.csv", "studies/sd-cards.csv"),
                         ("iozone.txt", "foreign/iozone/3.434-skipped-tests.txt"), ("iostat.log", "foreign/iostat/12.6-x-h.txt"), ("old.fio.json", "fio-3.33.json"), ("new.fio.json", "fio-3.33.json")]:
        os.symlink(os.path.abspath(os.path.join(foreign, source)), os.path.join(here, name))
    return places, here


def small(command, places):
    """The command as it is carried out, and the exit codes it may have."""
    row = next(((more, codes) for fits, more, codes in SMALL if re.match("narrows (" + fits + ")", command)), ("", (0,)))
    for old, new in SUBSTITUTES:
        command = re.sub(old, new, command)
    head, bar, tail = command.partition(" |")
    # An option that may be there once and is there already stays as it is.
    given = {option for option in re.findall(r"--[\w-]+", head) if option != "--set"}
    more = " ".join(option for option in re.findall(r"--\S+ [^-]\S*|\S+", row[0]) if option.split()[0] not in given)
    command = f"{head} {more}{bar}{tail}"
    for name, place in sorted(places.items(), key=lambda item: -len(item[0])):
        command = re.sub(re.escape(name) + r"(?![\w-])", place, command)
    for name in ("/dev/sdb", "/dev/sda"):
        if places[name] in command:
            command = re.sub(r"--destroy \w+", "--destroy " + os.path.basename(places[name]), command)
    return command.replace("narrows ", NARROWS + " ", 1), row[1]


def main():
    sys.stdout.reconfigure(line_buffering=True)
    documents = [os.path.join(ROOT, "README.md")]
    guide = os.path.join(ROOT, "docs/guide")
    if os.path.isdir(guide):
        documents += sorted(os.path.join(guide, name) for name in os.listdir(guide) if name.endswith(".md"))
    scratch = tempfile.mkdtemp(prefix="narrows-tours-")
    stage, count, wrong = Stage(scratch), 0, []
    try:
        places, here = prepared(stage)
        environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(scratch, "archive"), LANG="C.UTF-8")
        for document in documents:
            with open(document, encoding="utf-8") as file:
                text = file.read()
            found = list(commands(text))
            for name, body in files(text).items():
                with open(os.path.join(here, name), "w", encoding="utf-8") as file:
                    file.write(body)
            for command in found:
                reason = next((why for fits, why in LEFT_OUT if re.search(fits, command)), None)
                if reason:
                    print(f"SKIPPED: {command}: needs {reason}")
                    continue
                for first in next((firsts for fits, firsts in BEFORE if re.search(fits, command)), []):
                    code, said = carried_out(small(first, places)[0], here, environment)
                    if code not in DONE:
                        print(f"BEFORE IT: {first}: ended with {code}\n{said}")
                line, codes = small(command, places)
                code, said = carried_out(line, here, environment)
                count += 1
                if code not in codes:
                    wrong.append(command)
                    print(f"WRONG: {command}\n  as {line}\n  ended with {code}, not {codes}\n{said}")
    finally:
        stage.clear()
        sh("rm", "-rf", scratch)
    print(f"{count} commands of the tours carried out, {len(wrong)} ended otherwise")
    sys.exit(1 if wrong or count < 20 else 0)


main()
