#!/usr/bin/env python3
"""The same damage, and what narrows, fio's verify and f3 say of it.

    tests/trials/what-each-finds.py PROGRAM DIRECTORY

Each tool writes its data twice (fio and f3 have one form of data each), they are damaged, and it verifies. "finds" is that it says
so with its exit code or its count; "says what" is what it calls it. Needs fio and f3.
"""
import glob, json, os, random, re, shutil, subprocess, sys, tempfile

program, base = os.path.abspath(sys.argv[1]), sys.argv[2]
UNIT, SIZE = 64 << 10, 64 << 20
SECTORS = UNIT // 512


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


class Narrows:
    name = "narrows soak"

    def __init__(self, work):
        self.path, self.env = os.path.join(work, "data"), dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
        with open(self.path, "wb") as file:
            file.truncate(SIZE)
        # A soak that is interrupted in its third pass, so that all holds a second version.
        self.soak(["soak", self.path, "--overwrite", "--passes", "1000"], "pass 2 is whole")

    def soak(self, args, until):
        child = subprocess.Popen([program, *args], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in child.stderr:
            if until in line:
                child.terminate()
                break
        child.communicate()

    def verify(self):
        ended = run(program, "soak", "--resume", "--overwrite", "--on-finding", "stop", "--passes", "3", "--json", env=self.env)
        answer = json.loads(ended.stdout[ended.stdout.index("{"):])
        return ended.returncode == 1, sorted({f["class"] for f in answer["findings"]})


class Fio:
    name = "fio verify=crc32c"

    def __init__(self, work):
        self.path = os.path.join(work, "data")
        self.common = ["fio", "--name=v", f"--filename={self.path}", f"--size={SIZE}", "--bs=64k", "--direct=1", "--ioengine=libaio", "--iodepth=8", "--verify=crc32c", "--verify_interval=4096", "--verify_fatal=0", "--continue_on_error=verify"]
        for _ in range(2):
            assert run(*self.common, "--rw=write", "--do_verify=0", cwd=work).returncode == 0

    def verify(self):
        ended = run(*self.common, "--rw=read", "--do_verify=1", cwd=os.path.dirname(self.path))
        what = sorted(set(re.findall(r"(bad magic header|verify failed|bad header \w+)", ended.stdout)))
        return ended.returncode != 0 or bool(what), what


class F3:
    name = "f3write, f3read"

    def __init__(self, work):
        self.work = work
        # One file of 64 MiB: as much as there is room for on a file system of its own.
        self.path = os.path.join(work, "1.h2w")
        for _ in range(2):
            run("f3write", "--end-at=1", work)
        assert os.path.exists(self.path)

    def verify(self):
        ended = run("f3read", "--end-at=1", self.work)
        counts = {name: int(n) for name, n in re.findall(r"(Corrupted|Slightly changed|Overwritten): [0-9.]+ \w+ \((\d+) sectors\)", ended.stdout)}
        return any(counts.values()), sorted(name.lower() for name, n in counts.items() if n)


def damage(kind, path, older):
    chance = random.Random(3)
    with open(path, "r+b") as file:
        def at(place, bytes):
            file.seek(place * UNIT)
            return file.read(bytes)
        place, other = 100, 300
        data = at(place, UNIT)
        if kind == "one bit flipped":
            new = bytearray(data)
            new[300 * 512 % UNIT + 200] ^= 4
        elif kind == "one bit of a header flipped":
            new = bytearray(data)
            new[8] ^= 1
        elif kind == "noise in a sector":
            new = data[:5120] + chance.randbytes(512) + data[5632:]
        elif kind == "64 KiB of zeroes":
            new = bytes(UNIT)
        elif kind == "another place's data":
            new = at(other, UNIT)
        elif kind == "the version before":
            new = older[place * UNIT:(place + 1) * UNIT]
        elif kind == "half of it the version before":
            new = data[:UNIT // 2] + older[place * UNIT + UNIT // 2:(place + 1) * UNIT]
        file.seek(place * UNIT)
        file.write(bytes(new))


kinds = ["one bit flipped", "one bit of a header flipped", "noise in a sector", "64 KiB of zeroes", "another place's data", "the version before", "half of it the version before", "nothing"]
tools = [Narrows, Fio, F3]
print("| damage | " + " | ".join(tool.name for tool in tools) + " |\n|---|" + "---|" * len(tools))
for kind in kinds:
    row = []
    for tool in tools:
        work = tempfile.mkdtemp(dir=base)
        image = None
        if tool is F3:
            # f3 writes files of 1 GiB until the file system is full.
            image = work + ".img"
            with open(image, "wb") as file:
                file.truncate(96 << 20)
            subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
            subprocess.run(["mount", "-o", "loop", image, work], check=True)
        try:
            once = None
            if kind.endswith("version before"):
                if tool is Narrows:
                    first = Narrows.__new__(Narrows)
                    first.path, first.env = os.path.join(work, "data"), dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
                    with open(first.path, "wb") as file:
                        file.truncate(SIZE)
                    first.soak(["soak", first.path, "--overwrite", "--passes", "1000"], "pass 1 is whole")
                    once = open(first.path, "rb").read()
                    first.soak(["soak", "--resume", "--overwrite", "--passes", "1000"], "pass 2 is whole")
                    case = first
                else:
                    case = tool(work)
                    # What the first of its two rounds wrote is what the second wrote: it knows no versions.
                    once = open(case.path, "rb").read()
                    if tool is Fio:
                        assert run(*case.common, "--rw=write", "--do_verify=0").returncode == 0
            else:
                case = tool(work)
            if kind != "nothing":
                damage(kind, case.path, once)
            subprocess.run(["sync"])
            if tool is F3:
                subprocess.run(["sh", "-c", "echo 3 > /proc/sys/vm/drop_caches"])
            found, what = case.verify()
            row.append(("**no**" if not found and kind != "nothing" else "no" if not found else "yes") + (f": {', '.join(what)}" if what else ""))
        finally:
            if image:
                subprocess.run(["umount", work])
                os.remove(image)
            shutil.rmtree(work)
    print(f"| {kind} | " + " | ".join(row) + " |", flush=True)
