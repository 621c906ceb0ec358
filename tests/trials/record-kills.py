#!/usr/bin/env python3
"""A recorder that is killed (SIGKILL) at random moments, again and again, in one container: what it acknowledged to its producers is there.

    tests/trials/record-kills.py PROGRAM DIRECTORY [KILLS] [SEED]

Two producers send frames by the socket, of random sizes, with their number in them, and keep what they were acknowledged. After each
kill the recording is read (`--export raw` by stream, `--verify`) and the next one begins in the same container. Needs no root.
"""
import os, random, signal, socket, struct, subprocess, sys, tempfile, time, json

program, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
kills = int(sys.argv[3]) if len(sys.argv) > 3 else 100
seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
chance = random.Random(seed)
work = tempfile.mkdtemp(dir=directory, prefix="record-kills-")
target, sock = os.path.join(work, "cam.nrec"), os.path.join(work, "s")
environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
print(f"seed {seed}, {work}")


def content(name, number, length):
    head = f"{name} {number} ".encode()
    return (head + random.Random(f"{name}{number}").randbytes(max(0, length - len(head))))[:length]


class Producer:
    def __init__(self, name, epoch):
        self.name, self.frames, self.durable, self.lost, self.said = f"{name}{epoch}", [], 0, 0, b""
        deadline = time.monotonic() + 30
        while True:
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(sock)
                break
            except OSError:
                self.socket.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)
        self.socket.sendall(b"NFS1" + struct.pack("<H", len(self.name)) + self.name.encode())

    def send(self):
        length = chance.choice([chance.randrange(200, 4000), chance.randrange(4000, 200_000)])
        data = content(self.name, len(self.frames), length)
        self.socket.sendall(b"NFR1" + struct.pack("<IQ", length, 1) + data)
        self.frames.append(data)

    def hear(self):
        self.socket.setblocking(False)
        try:
            while chunk := self.socket.recv(4096):
                self.said += chunk
        except OSError:
            pass
        self.socket.setblocking(True)
        whole = len(self.said) // 16 * 16
        if whole:
            self.durable, self.lost = struct.unpack("<QQ", self.said[whole - 16 : whole])
            self.said = self.said[whole:]


def run(*args):
    return subprocess.run([program, *args], env=environment, capture_output=True)


acknowledged = sent = 0
failures = []
for kill in range(1, kills + 1):
    if os.path.exists(sock):
        os.remove(sock)
    # Every so often a new container: one that is full takes no more.
    fresh = ["--new"] if kill % 10 == 1 else []
    recorder = subprocess.Popen(
        [program, "record", "-o", target, "--listen", sock, "--size", "2GB", "--segment", "4MiB", "--max-latency", "10ms", *fresh],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    producers = [Producer(name, kill) for name in "ab"]
    until = time.monotonic() + chance.random() ** 2 * 0.4
    try:
        while time.monotonic() < until:
            for producer in producers:
                producer.send()
                producer.hear()
    except OSError as error:
        failures.append(f"kill {kill}: it ended by itself: {error}; {recorder.communicate()[0]}")
        print(failures[-1], flush=True)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    for producer in producers:
        producer.hear()
        sent, acknowledged = sent + len(producer.frames), acknowledged + producer.durable
        there = b""
        if producer.durable:
            there = run("record", "--export", "raw", "-o", target, "--stream", producer.name).stdout
        promised = b"".join(producer.frames[: producer.durable])
        if producer.lost or not there.startswith(promised) or not b"".join(producer.frames).startswith(there):
            failures.append(f"kill {kill}: {producer.name}: {producer.durable} acknowledged, {len(there)} bytes there, {len(promised)} promised")
    if kill % 10 == 0:
        checked = run("record", "--verify", "-o", target, "--json")
        if checked.returncode or json.loads(checked.stdout)["checked"]["damage"]:
            failures.append(f"kill {kill}: verify: {checked.stdout.decode()[:500]}")
    if kill % 100 == 0:
        print(f"{kill} kills, {acknowledged} of {sent} frames acknowledged, {len(failures)} failures", flush=True)
for failure in failures:
    print(failure)
print(f"{kills} kills: {acknowledged} of {sent} frames were acknowledged, {len(failures)} failures")
subprocess.run(["rm", "-rf", work])
sys.exit(bool(failures))
