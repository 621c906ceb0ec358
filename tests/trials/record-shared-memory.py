#!/usr/bin/env python3
"""record-shared-memory.py PROGRAM DIRECTORY ROUNDS GB [RING]: what recording costs with two producers by shared memory.

Two producers hand over frames of 2 MB as fast as the recorder takes them (docs/recorder.md, "What comes in"); fio writes as much, directly, in
turn. CPU a GB is printed as the recorder tells it (of its writer, and of the whole from the first frame to the last), and as the
kernel counts it for the whole process, with its start and its end. The producers' own CPU is not in it.
"""
import array
import fcntl
import json
import mmap
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

PRODUCERS, FRAME = 2, 2_000_000
DATA, LENGTH = 4096, 64 << 20
F_ADD_SEALS, F_SEAL_SHRINK, F_SEAL_GROW = 1033, 2, 4

if len(sys.argv) not in (5, 6):
    sys.exit(__doc__)
program, directory, rounds, gigabytes = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
ring = sys.argv[5] if len(sys.argv) == 6 else "256MiB"
frames = int(gigabytes * 1e9 / FRAME / PRODUCERS)
total = frames * FRAME * PRODUCERS
work = tempfile.mkdtemp(dir=directory)


def producer(place, name, failed):
    try:
        memory = os.memfd_create(name, os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, DATA + LENGTH)
        fcntl.fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)
        shared = mmap.mmap(memory, DATA + LENGTH)
        shared[0:16] = b"NFRSHM01" + struct.pack("<Q", LENGTH)
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(place)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))]
        stream.sendmsg([b"NFM1" + struct.pack("<H", len(name)) + name.encode()], rights)
        record = b"NFR1" + struct.pack("<IQ", FRAME, 0) + os.urandom(FRAME)
        record += bytes(-len(record) % 16)
        written = 0
        for _ in range(frames):
            while written + len(record) - struct.unpack("<Q", shared[128:136])[0] > LENGTH:
                time.sleep(0.001)
            at = written % LENGTH
            first = min(len(record), LENGTH - at)
            shared[DATA + at : DATA + at + first] = record[:first]
            shared[DATA : DATA + len(record) - first] = record[first:]
            written += len(record)
            shared[64:72] = struct.pack("<Q", written)
        said = b""
        while len(said) < 16 or struct.unpack("<Q", said[len(said) // 16 * 16 - 16 :][:8])[0] < frames:
            part = stream.recv(65536)
            if not part:
                raise RuntimeError("the recorder is gone")
            said += part
    except Exception as error:  # A thread's own would be seen by nobody.
        failed.append(f"{name}: {error}")


def ended(process):
    _, status, used = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def recorded():
    place, target = f"{work}/socket", f"{work}/frames.nrec"
    command = [program, "record", "--listen", place, "-o", target, "--size", str(total + (600 << 20)), "--ring", ring, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not os.path.exists(place):
        if process.poll() is not None:
            sys.exit(f"it ended before it listened: {process.stdout.read()[:1000]}")
        time.sleep(0.01)
    begun, failed = time.monotonic(), []
    producers = [threading.Thread(target=producer, args=(place, f"camera{i}", failed)) for i in range(PRODUCERS)]
    for thread in producers:
        thread.start()
    for thread in producers:
        thread.join()
    took = time.monotonic() - begun
    process.send_signal(signal.SIGINT)
    document = json.loads(process.stdout.read())
    code, cpu = ended(process)
    os.remove(target)
    if failed or code != 0 or any(stream["durable"] != frames for stream in document["streams"]):
        sys.exit(f"not all frames are durable: {failed}, exit code {code}, {document['streams']}")
    return total / took / 1e6, document["cpu_s_per_gb"], document["process_cpu_s_per_gb"], cpu / (total / 1e9)


def by_fio():
    target = f"{work}/fio"
    command = f"fio --name=w --filename={target} --size={total} --rw=write --bs=1M --iodepth=8 --ioengine=io_uring --direct=1 --output-format=json"
    process = subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    document = json.loads(process.stdout.read())
    code, cpu = ended(process)
    os.remove(target)
    if code != 0:
        sys.exit(f"fio ended with {code}")
    return document["jobs"][0]["write"]["bw_bytes"] / 1e6, cpu / (total / 1e9)


def told(values, digits):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


try:
    pairs = [(recorded(), by_fio()) for _ in range(rounds)]
finally:
    shutil.rmtree(work)
ours, theirs = zip(*pairs)
rate, writer, whole, process = zip(*ours)
print(f"narrows: {told(rate, 0)} MB/s; CPU s/GB: writer {told(writer, 3)}, whole {told(whole, 3)}, process {told(process, 3)}")
print(f"fio:     {told([r for r, _ in theirs], 0)} MB/s; CPU s/GB: process {told([c for _, c in theirs], 3)}")
