#!/usr/bin/env python3
"""How fast a recording is beside others who write to the same place, alternating: rates, and CPU for a GB.

    tests/trials/record-rate.py PROGRAM DIRECTORY [ROUNDS] [GB]

fio writes directly at 1 MiB and depth 8 (its best here), dd directly and through the page cache, cat through the page cache (each with an
fsync at the end), ffmpeg copies pictures into a file, and GStreamer writes them with its file sink, where it is there. The recorder takes generated pictures as fast as the storage does, and the same
pictures by a pipe. CPU is user and system time of the process; of the recorder also that of its writer's thread alone, as the
pictures have to be made.
"""
import json, os, resource, statistics, subprocess, sys, tempfile, time, shutil

program, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
size = int(float(sys.argv[4]) * 1e9) if len(sys.argv) > 4 else 4_000_000_000
work = tempfile.mkdtemp(dir=directory, prefix="record-rate-")
environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
frames = size // 4_000_000
pictures = os.path.join("/dev/shm", f"record-rate-{os.getpid()}.mjpeg")


def measured(command, bytes_, **more):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, env=environment, cwd=work, **more)
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr.decode()[-2000:]}{done.stdout.decode()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return bytes_ / took, cpu / (bytes_ / 1e9), done.stdout


def narrows(*inputs):
    target = os.path.join(work, "cam.nrec")
    rate, cpu, out = measured([program, "record", "-o", target, "--size", str(size + (1 << 30)), "--new", "--json", *inputs], size)
    document = json.loads(out)
    assert not any(s["dropped"] for s in document["streams"]), document
    return document["throughput_bytes_per_s"], document["cpu_s_per_gb"], cpu


def fio():
    command = ["fio", "--name=w", "--filename=fio.dat", f"--size={size}", "--rw=write", "--bs=1M", "--iodepth=8", "--ioengine=io_uring",
               "--direct=1", "--fallocate=posix", "--end_fsync=1", "--output-format=json"]
    _, _, out = measured(command, size)
    job = json.loads(out)["jobs"][0]
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["write"]["runtime"] / 1000
    return job["write"]["io_bytes"] / (job["job_runtime"] / 1000), None, busy / (size / 1e9)


def plain(command):
    rate, cpu, _ = measured(["sh", "-c", command], size)
    return rate, None, cpu


count = size // (1 << 20)
subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30", "-t", "10", "-c:v", "mjpeg", "-q:v", "2", "-f", "mjpeg", "-y",
                pictures], check=True)
film = os.path.getsize(pictures)
loops = max(1, size // film)
ways = {
    "narrows record, generated pictures": lambda: narrows("--generate", "1x4MB@max", "--frames", str(frames)),
    "fio --direct=1, 1 MiB, depth 8": fio,
    "dd oflag=direct bs=1M": lambda: plain(f"dd if=/dev/zero of=dd.dat bs=1M count={count} oflag=direct conv=fsync status=none"),
    "dd bs=1M conv=fsync": lambda: plain(f"dd if=/dev/zero of=dd.dat bs=1M count={count} conv=fsync status=none"),
    "cat > file, sync": lambda: plain(f"head -c {size} /dev/zero | cat > cat.dat && sync cat.dat"),
}
found = {name: [] for name in ways}
for round_ in range(rounds):
    for name, way in ways.items():
        found[name].append(way())
        for left in ("fio.dat", "dd.dat", "cat.dat", "cam.nrec"):
            path = os.path.join(work, left)
            if os.path.exists(path):
                os.remove(path)
best = statistics.median(r for r, _, _ in found["fio --direct=1, 1 MiB, depth 8"])
pairs = [a[0] / b[0] for a, b in zip(found["narrows record, generated pictures"], found["fio --direct=1, 1 MiB, depth 8"])]
print(f"{'':36} {'MB/s':>7} {'of fio':>7}  {'lowest':>7} {'highest':>7}  {'CPU s/GB':>8}  {'writer':>7}")
for name, all_ in found.items():
    rates = [r / 1e6 for r, _, _ in all_]
    writer = [w for _, w, _ in all_ if w is not None]
    print(f"{name:36} {statistics.median(rates):7.0f} {statistics.median(rates) * 1e6 / best:7.2f}  {min(rates):7.0f} {max(rates):7.0f}  "
          f"{statistics.median(c for _, _, c in all_):8.3f}  {f'{statistics.median(writer):7.3f}' if writer else ''}")
print(f"recorder / fio, round by round: median {statistics.median(pairs):.3f}, {min(pairs):.3f} to {max(pairs):.3f}")

# The same pictures by a pipe: ffmpeg's own writer, and the recorder.
print(f"{loops} times {film} bytes of pictures by ffmpeg -c copy:")
for name, command in {
    "ffmpeg to a file, sync": f"ffmpeg -v error -stream_loop {loops - 1} -f mjpeg -i {pictures} -c copy -f mjpeg -y out.mjpeg && sync out.mjpeg",
    "GStreamer's filesink, sync": f"for i in $(seq {loops}); do cat {pictures}; done | gst-launch-1.0 -q fdsrc fd=0 blocksize=1048576 ! filesink location=out.mjpeg && sync out.mjpeg",
    "ffmpeg to narrows record": f"ffmpeg -v error -stream_loop {loops - 1} -f mjpeg -i {pictures} -c copy -f mjpeg - | {program} record -o cam.nrec --new --size {size + (2 << 30)} --json > said",
    "cat to narrows record": f"for i in $(seq {loops}); do cat {pictures}; done | {program} record -o cam.nrec --new --size {size + (2 << 30)} --json > said",
}.items():
    if "GStreamer" in name and not shutil.which("gst-launch-1.0"):
        continue
    results = []
    for _ in range(3):
        rate, cpu, _ = measured(["sh", "-c", command], film * loops)
        results.append((rate, cpu))
        for left in ("out.mjpeg", "cam.nrec"):
            path = os.path.join(work, left)
            if os.path.exists(path):
                os.remove(path)
    print(f"{name:36} {statistics.median(r for r, _ in results) / 1e6:7.0f} MB/s, {statistics.median(c for _, c in results):.3f} CPU s/GB (both programs)")
os.remove(pictures)
shutil.rmtree(work)
