#!/usr/bin/env python3
"""User CPU of writing and verifying, a GB: narrows, fio and f3, alternating, on the same directory.

    tests/trials/verify-cpu.py PROGRAM DIRECTORY [ROUNDS]

Each writes 1 GiB and reads it back once. narrows stamps each sector of 512 bytes and compares every byte; fio has verify=crc32c at 512
bytes, by io_uring past the page cache; f3 writes files of its own through the page cache. f3 fills whatever it may: it gets a
file size by its --end-at. Needs no root. fio and f3 are left out where they are not there.
"""
import os, shutil, statistics, subprocess, sys, tempfile

program, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
work = tempfile.mkdtemp(dir=directory, prefix="verify-cpu-")
data = os.path.join(work, "data")
with open(data, "wb") as file:
    file.truncate(1 << 30)
f3 = os.path.join(work, "f3")
os.mkdir(f3)
environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
SIZE = ["--bs=1M", "--size=1G", "--iodepth=8", "--ioengine=io_uring", "--direct=1"]


def user_seconds(*commands):
    """Of all that they start."""
    before = os.times().children_user
    for command in commands:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # 4: others used the disk; the processor time is ours all the same.
        if done.returncode not in (0, 4):
            sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return os.times().children_user - before


def narrows():
    # A job file of one's own, so that nothing but this is written.
    text = os.path.join(work, "write.toml")
    with open(text, "w") as file:
        file.write(
            'name = "w"\n[[phase]]\nname = "w"\noperation = "write"\norder = "sequential"\naccess = "direct"\nblock-size = "1MiB"\n'
            'depth = 8\nregion = "1GiB"\namount = "100%"\nverify = "stamp"\nlaid-out = false\n'
        )
    return user_seconds([program, "run", text, data, "--overwrite"])


def soak():
    return user_seconds([program, "soak", data, "--overwrite", "--mode", "sweep"])


def fio():
    verify = ["--verify=crc32c", "--verify_interval=512", "--do_verify=1", "--verify_fatal=1"]
    return user_seconds(["fio", "--name=v", f"--filename={data}", "--rw=write", *SIZE, *verify])


def f3_both():
    return user_seconds(["f3write", "--end-at=1", f3], ["f3read", f3])


contestants = {"narrows run, 1 x written, 1 x read": narrows, "narrows soak, 1 x written, 2 x read": soak}
if shutil.which("fio"):
    contestants["fio verify=crc32c"] = fio
if shutil.which("f3write"):
    contestants["f3write, f3read"] = f3_both
took = {name: [] for name in contestants}
for _ in range(rounds):
    for name, contestant in contestants.items():
        took[name].append(contestant() / 1.073741824)
for name, seconds in took.items():
    print(f"{name:38} {statistics.median(seconds):.3f} s of user CPU a GB ({min(seconds):.3f} to {max(seconds):.3f})")
subprocess.run(["rm", "-r", work])
