"""Job files made from a table of options, carried out by fio and by narrows under strace, and what the two did compared."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

NARROWS, SCRATCH, COUNT, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
FILE_BYTES = 4 << 20
CALLS = "openat,fcntl,pread64,pwrite64,preadv,preadv2,pwritev,pwritev2,read,write,lseek,fsync,fdatasync,sync_file_range,fadvise64,prctl"
# What fio does otherwise, and why it stays so, is in docs/fio-options.md.
KIB = 1024


def pick(r, weighted):
    """One of these, None for none of them."""
    return r.choices([v for v, _ in weighted], [w for _, w in weighted])[0]


def make(r):
    """The options of a job."""
    rw = r.choice(["read", "write", "randread", "randwrite", "rw", "randrw"])
    job = {"rw": rw, "ioengine": r.choice(["psync", "sync", "pvsync", "psync"])}
    randomly = rw.startswith("rand")
    sizes = r.choice(["one", "one", "one", "two", "range", "split"])
    if sizes == "one":
        job["bs"] = r.choice(["4k", "8k", "16k", "64k", "4k,", "32k"])
    elif sizes == "two":
        job["bs"] = r.choice(["4k,16k,16k", "16k,4k,16k"] if rw.endswith("rw") else ["8k,8k,8k", "16k,16k"])
    elif sizes == "range":
        job["bsrange"] = r.choice(["4k-16k", "8k-32k", "4k-12k"])
    else:
        job["bssplit"] = r.choice(["4k/50:16k/50", "4k/60:16k/39", "4k/10:8k/:64k/20", "8k/33:16k/33:32k/33"])
    job["size"] = r.choice(["256k", "512k", "1m", "1m", "768k", "25%"])
    options = [
        ("offset", [(None, 6), ("64k", 2), ("1m", 1), ("33%", 2), ("7%", 1)]),
        ("offset_align", [(None, 9), ("128k", 1)]),
        ("io_size", [(None, 6), ("128k", 1), ("2m", 1), ("300k", 1)]),
        ("loops", [(None, 6), (2, 2), (3, 1)]),
        ("number_ios", [(None, 8), (17, 1)]),
        ("direct", [(None, 4), (1, 2), (0, 1)]),
        ("sync", [(None, 8), (1, 1), ("dsync", 1)]),
        ("invalidate", [(None, 6), (0, 1)]),
        ("rwmixread", [(None, 4), (70, 1), (30, 1)] if "rw" in rw[-2:] else [(None, 1)]),
        ("percentage_random", [(None, 4), (40, 1), ("100,20", 1)] if randomly else [(None, 1)]),
        ("norandommap", [(None, 3), (1, 1)] if randomly else [(None, 1)]),
        ("fsync", [(None, 6), (4, 1), (1, 1)] if "read" not in rw else [(None, 1)]),
        ("fdatasync", [(None, 6), (3, 1)] if "read" not in rw else [(None, 1)]),
        ("end_fsync", [(None, 4), (1, 1)] if "read" not in rw else [(None, 1)]),
        ("buffer_pattern", [(None, 6), ("0xcafe0123", 1)] if "read" not in rw else [(None, 1)]),
        ("blockalign", [(None, 8), ("32k", 1)] if randomly and sizes == "one" else [(None, 1)]),
    ]
    for name, weighted in options:
        value = pick(r, weighted)
        if value is not None:
            job[name] = value
    if "fsync" in job:
        # Of two kinds that are due at once fio leaves one out.
        job.pop("fdatasync", None)
    if rw in ("read", "write") and sizes == "one" and r.random() < 0.15:
        # What has no room at the end differs: docs/fio-options.md.
        job["bs"] = r.choice(["4k", "16k", "32k"])
        job["rw"] = rw + ":" + job["bs"]
    if rw in ("randread", "randwrite") and sizes == "one" and r.random() < 0.15:
        job["rw"] = rw + ":4"
    return job


def traced(command, path, comm=None):
    """What a command did to the file: (call, offset, length) of its streams, the flags it was opened with, dropped ranges."""
    directory = os.path.dirname(path)
    log = os.path.join(directory, "trace")
    done = subprocess.run(
        ["strace", "-f", "-y", "-s", "48", "-e", "trace=" + CALLS, "-o", log] + command,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=directory, timeout=240,
    )
    ops, dropped, names, flags, position, starts, parts = [], [], {}, set(), {}, [], {}
    for line in open(log, errors="replace"):
        thread, _, call = line.strip().partition(" ")
        call = call.strip()
        unfinished = re.match(r"(.*) <unfinished \.\.\.>$", call)
        if unfinished:
            parts[thread] = unfinished[1]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", call)
        if resumed:
            call = parts.pop(thread, "") + resumed[1]
        named = re.match(r'prctl\(PR_SET_NAME, "([^"]*)"', call)
        if named:
            names[thread] = named[1]
            continue
        result = re.search(r"= (-?\d+)(?:<[^>]*>)?(?: [A-Z]+ .*)?$", call.replace("= 0x", "= 0 FLAGS "))
        named = f"<{path}>" in call or (call.startswith("open") and f'"{path}"' in call)
        if not named or not result or int(result[1]) < 0:
            continue
        count = int(result[1])
        name = call.split("(")[0]
        # A pass begins with an open file of its own; ioengine=sync seeks only where it is not yet.
        if name == "openat":
            position[thread] = 0
        # Our threads look at the flags of the file that they were handed.
        if name == ("fcntl" if comm else "openat"):
            if comm and ("F_GETFL" not in call or not names.get(thread, "").startswith(comm)):
                continue
            flags.add(frozenset(re.findall(r"O_(?:DIRECT|SYNC|DSYNC)\b", call.rpartition('"')[2])))
            continue
        if name in ("fcntl", "openat"):
            continue
        numbers = re.search(r", ([\d, -]+(?:, POSIX_FADV_\w+)?)\)\s+=", call)
        if name == "fadvise64":
            if "POSIX_FADV_DONTNEED" in call:
                dropped.append((thread, len(ops)))
            continue
        if comm and not names.get(thread, "").startswith(comm):
            continue
        if name in ("fsync", "fdatasync", "sync_file_range"):
            ops.append((name, 0, 0, ""))
            continue
        kind = "write" if "write" in name else "read" if "read" in name else None
        if name == "lseek":
            position[thread] = count
            continue
        if kind is None:
            continue
        if name in ("read", "write"):
            offset = position.get(thread, 0)
            position[thread] = offset + count
        elif name in ("pread64", "pwrite64"):
            offset = int(re.search(r", (\d+)\)\s+=", call)[1])
        else:
            offset = int(re.search(r"\], \d+, (\d+)", call)[1])
        data = re.search(r'"((?:[^"\\]|\\.)*)"', call) if kind == "write" else None
        ops.append((kind, offset, count, data[1][:16] if data else ""))
    return done, ops, flags, dropped


def io(ops, kind=None):
    return [(o[0], o[1], o[2]) for o in ops if o[0] in ("read", "write") and kind in (None, o[0])]


def follows(ops):
    """How many operations begin where one of their kind before them ended."""
    ends, count = {}, 0
    for kind, offset, length in ops:
        count += ends.get(kind) == offset
        ends[kind] = offset + length
    return count


def order(ops):
    """Names of the calls; a sync that is due when all is done comes here and not there, and fio repeats one where a pass begins."""
    names = [o[0] for i, o in enumerate(ops) if not (o[0].endswith("sync") and i and ops[i - 1][0] == o[0])]
    while names and names[-1].endswith("sync"):
        names.pop()
    return names


def close(a, b, n, spread=5.0):
    """Whether two shares of n draws may be the same: so many standard deviations at most."""
    return abs(a - b) <= spread * (2 * n * 0.25) ** 0.5 + 2


def differences(job, fio, ours):
    """What the two did otherwise."""
    said = []

    def same(what, a, b):
        if a != b:
            said.append(f"{what}: fio {a}, narrows {b}")

    (fops, fflags, fdrops), (nops, nflags, ndrops) = fio, ours
    rw = job["rw"].split(":")[0]
    single = "bs" in job and job["bs"] in ("4k", "8k", "16k", "32k", "64k", "4k,")
    randomly, mixed = rw.startswith("rand"), rw.endswith("rw")
    a, b = io(fops), io(nops)
    if not a:
        return ["fio did nothing"]
    if not randomly and single and not mixed:
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            said.append(f"operation {at} of {len(a)} and {len(b)}: fio {a[at:at + 3]}, narrows {b[at:at + 3]}")
        # fio syncs at the end of each pass, ours at that of the job.
        x, y = [[n for n in order(ops) if "loops" not in job or n in ("read", "write")] for ops in (fops, nops)]
        if x != y:
            at = next((i for i, pair in enumerate(zip(x, y)) if pair[0] != pair[1]), min(len(x), len(y)))
            said.append(f"order of syncs from {at} of {len(x)} and {len(y)}: fio {x[at - 2:at + 4]}, narrows {y[at - 2:at + 4]}")
    else:
        total = lambda ops: sum(o[2] for o in ops)
        largest = max(o[2] for o in a + b)
        # The last operation may be cut or go beyond.
        ends_by_direction = mixed and not randomly and ("loops" in job or "io_size" in job)
        # A sequential run that reaches the end ends a pass there; so does a map of blocks that no direction has.
        ends_early = randomly and ("percentage_random" in job or ":" in job["rw"] or (mixed and not single))
        drawn = not single and "number_ios" in job
        ends_by_direction = ends_by_direction or ends_early or drawn
        if not ends_by_direction and abs(total(a) - total(b)) > (0 if single else largest):
            said.append(f"bytes: fio {total(a)}, narrows {total(b)}")
        for kind in ("read", "write"):
            x, y = io(fops, kind), io(nops, kind)
            few = mixed and len(a) < 40
            if few or bool(x) != bool(y):
                if few:
                    continue
                said.append(f"{kind}s: fio {len(x)}, narrows {len(y)}")
                continue
            if not x:
                continue
            if single:
                same(f"lengths of {kind}s", sorted({o[2] for o in x}), sorted({o[2] for o in y}))
            if single and mixed and not close(len(x), len(y), len(a)):
                said.append(f"number of {kind}s: fio {len(x)}, narrows {len(y)}")
            if not single and not ends_by_direction and not close(len(x), len(y), max(len(x), len(y)), 8.0):
                said.append(f"number of {kind}s: fio {len(x)}, narrows {len(y)}")
            low, high = min(o[1] for o in x), max(o[1] + o[2] for o in x)
            if min(o[1] for o in y) < min(low, first(job)) or max(o[1] + o[2] for o in y) > max(high, last(job)):
                said.append(f"region of {kind}s: fio {low} to {high}, narrows {min(o[1] for o in y)} to {max(o[1] + o[2] for o in y)}")
            if not randomly:
                same(f"first {kind}", x[0][1], y[0][1])
                n = min(len(x), len(y))
                if follows(y[:n]) < follows(x[:n]) - 3:
                    said.append(f"{kind}s in sequence: fio {follows(x[:n])}, narrows {follows(y[:n])}")
        plain = randomly and single and not mixed and not {"norandommap", "percentage_random", "blockalign"} & set(job) and ":" not in job["rw"]
        if plain:
            same("places", len(set(a)), len(set(b)))
            if not {"number_ios", "io_size"} & set(job):
                same("visits", sorted(Counter(Counter(a).values()).items()), sorted(Counter(Counter(b).values()).items()))
        n = min(len(a), len(b))
        if randomly and not close(follows(a) * n / len(a), follows(b) * n / len(b), n):
            said.append(f"operations that follow the last one: fio {follows(a)} of {len(a)}, narrows {follows(b)} of {len(b)}")
        # Between reads fio syncs again as long as the number of writes is a multiple.
        for sync in ("fsync", "fdatasync") if not mixed and "loops" not in job else ():
            x, y = [sum(o[0] == sync for o in ops) for ops in (fops, nops)]
            writes = max(sum(o[0] == "write" for o in ops) for ops in (fops, nops))
            fewer = abs(sum(o[0] == "write" for o in fops) - sum(o[0] == "write" for o in nops))
            if abs(x - y) > (fewer + 1 if writes else 0) and not ends_by_direction:
                said.append(f"{sync}: fio {x}, narrows {y}")
    # What only reads is not made durable.
    flags = ("DIRECT",) if rw in ("read", "randread") else ("DIRECT", "SYNC", "DSYNC")
    wants = {f"O_{name}" for name in flags if any(f"O_{name}" in f for f in fflags)}
    has = {f"O_{name}" for name in flags if any(f"O_{name}" in f for f in nflags)}
    same("flags of the open file", sorted(wants), sorted(has))
    if "buffer_pattern" in job and rw != "rw" and not mixed:
        same("data", {o[3] for o in fops if o[0] == "write"}, {o[3] for o in nops if o[0] == "write"})
    if rw in ("read", "randread") and job.get("direct") != 1 and "percentage_random" not in job and ":" not in job["rw"]:
        fio_passes = len({at for _, at in fdrops})
        # Ours drops what is cached more thoroughly before the first pass.
        our_passes = len({at for _, at in ndrops})
        same("passes that begin cold", fio_passes, our_passes)
    return said


def bytes_of(text):
    text = str(text)
    factor = {"k": KIB, "m": KIB * KIB}.get(text[-1])
    return int(text[:-1]) * factor if factor else int(text)


def first(job):
    offset = str(job.get("offset", 0))
    return FILE_BYTES * int(offset[:-1]) // 100 if offset.endswith("%") else bytes_of(offset)


def last(job):
    size = job["size"]
    length = FILE_BYTES * int(size[:-1]) // 100 if size.endswith("%") else bytes_of(size)
    return first(job) + length + bytes_of(job.get("offset_align", "64k"))


def compared(number, job):
    """Carries a job out by both: whether it was compared, otherwise or refused, and what is printed of it."""
    directory = os.path.join(SCRATCH, str(number))
    os.mkdir(directory)
    path, jobfile = os.path.join(directory, "target"), os.path.join(directory, "job.fio")
    with open(path, "wb") as file:
        file.write(os.urandom(FILE_BYTES))
    lines = "".join(f"{k}={v}\n" for k, v in job.items())
    # Its own thread has a name, by which its calls are known.
    with open(jobfile, "w") as file:
        file.write(f"[j]\nfilename={path}\nallow_file_create=0\n{lines}")
    fio = traced(["fio", "--output=" + os.path.join(directory, "fio.out"), jobfile], path)
    with open(jobfile, "w") as file:
        file.write(f"[j]\ncpus_allowed=0\n{lines}")
    command = [NARROWS, "run", jobfile, path, "--json"]
    if not job["rw"].split(":")[0].endswith("read"):
        command.append("--overwrite")
    ours = traced(command, path, "stream-")
    shutil.rmtree(directory)
    text = f"{number}: {'; '.join(lines.split())}"
    try:
        document = json.loads(ours[0].stdout)
    except ValueError:
        document = {"message": ours[0].stdout + ours[0].stderr}
    if ours[0].returncode in (2, 3):
        return ("refused", [text, f"   refused: {document.get('message')}"]) if fio[0].returncode == 0 else ("both refused", [])
    if fio[0].returncode != 0:
        return "not compared", [text, f"   fio ended with {fio[0].returncode}, narrows with {ours[0].returncode}"]
    said = differences(job, fio[1:], ours[1:])
    return ("otherwise", [text] + [f"   {line}" for line in said]) if said else ("alike", [])


def main():
    print(f"seed {SEED}")
    probe = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True)
    if probe.returncode != 0:
        sys.exit(77)
    r = random.Random(SEED)
    jobs = [make(r) for _ in range(COUNT)]
    # Both programs mostly start, and wait.
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(compared, range(COUNT), jobs))
    for _, lines in outcomes:
        for line in lines:
            print(line)
    count = Counter(outcome for outcome, _ in outcomes)
    wrong, refused = count["otherwise"], count["refused"]
    print(f"{count['alike'] + wrong} jobs compared, {wrong} otherwise, {refused} refused")
    sys.exit(1 if wrong or refused else 0)


main()
