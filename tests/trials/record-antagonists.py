#!/usr/bin/env python3
"""A recording beside two who want the same disk: a writer that floods it, and one that writes at random and syncs.

    tests/trials/record-antagonists.py PROGRAM DIRECTORY RATE_MB [ROUNDS] [SECONDS] [RING]

Frames of 1 MB at RATE_MB in all, by four cameras, beside nobody, beside both with normal priority, with real time, and with the two standing
still while the ring fills (--defer). What is lost, how old frames are when they are acknowledged, and what the two still get. Needs
root for real time; which scheduler the disk has is said by the recorder.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

program, directory, rate = os.path.abspath(sys.argv[1]), sys.argv[2], float(sys.argv[3])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
seconds = int(sys.argv[5]) if len(sys.argv) > 5 else 10
ring = sys.argv[6] if len(sys.argv) > 6 else "256MiB"
work = tempfile.mkdtemp(dir=directory, prefix="record-antagonists-")
environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
fps = rate / 4


def antagonist(name, *job):
    return subprocess.Popen(["fio", f"--name={name}", f"--filename={work}/{name}.dat", "--size=2G", "--direct=1", "--ioengine=io_uring", "--time_based",
                             f"--runtime={seconds + 4}", "--output-format=json", "--thread", *job], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=work)


def once(antagonists, *options):
    others = []
    if antagonists:
        others = [antagonist("flood", "--rw=write", "--bs=1M", "--iodepth=16"), antagonist("syncs", "--rw=randwrite", "--bs=4k", "--fsync=1")]
        time.sleep(1.5)
    defer = [o for other in others for o in ("--defer", str(other.pid))] if "DEFER" in options else []
    command = [program, "record", "-o", f"{work}/cam.nrec", "--new", "--size", "2GB", "--when-full", "wrap", "--generate", f"4x1MB@{fps}", "--for", f"{seconds}s",
               "--ring", ring, "--json", *[o for o in options if o != "DEFER"], *defer]
    done = subprocess.run(command, env=environment, capture_output=True)
    document = json.loads(done.stdout)
    got = {}
    for other in others:
        out = json.loads(other.communicate()[0])["jobs"][0]
        got[out["jobname"]] = (out["write"]["bw_bytes"] / 1e6, out["write"]["iops"])
    received = sum(s["received"] for s in document["streams"])
    lost = sum(sum(s["dropped"].values()) for s in document["streams"])
    return dict(lost=100 * lost / received, p99=(document["ack_ns_p99"] or document["ack_ns_max"]) / 1e6, most=document["ack_ns_max"] / 1e6,
                flood=got.get("flood", (0, 0))[0], syncs=got.get("syncs", (0, 0))[1], why=document["priority_reason"], deferred=document["deferred"])


ways = {
    "alone": (False, "--priority", "real-time"),
    "both, normal": (True, "--priority", "normal"),
    "both, real time": (True, "--priority", "real-time"),
    "both, --defer": (True, "--priority", "real-time", "DEFER"),
}
found = {name: [] for name in ways}
for _ in range(rounds):
    for name, (antagonists, *options) in ways.items():
        found[name].append(once(antagonists, *options))
print(f"{rate:.0f} MB/s of frames for {seconds} s, ring {ring}, medians of {rounds} alternating rounds")
print(f"{'':18} {'lost %':>7} {'p99 ms':>8} {'most ms':>8} {'flood MB/s':>11} {'syncs/s':>8}")
for name, all_ in found.items():
    of = lambda key: statistics.median(r[key] for r in all_)
    print(f"{name:18} {of('lost'):7.2f} {of('p99'):8.0f} {of('most'):8.0f} {of('flood'):11.0f} {of('syncs'):8.0f}   {all_[0]['why'] if name != 'alone' else ''}")
shutil.rmtree(work)
