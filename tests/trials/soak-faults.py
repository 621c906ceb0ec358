#!/usr/bin/env python3
"""A soak of a file while its data are damaged at random times: each damage must be found, once and with its class, and nothing else.

    tests/trials/soak-faults.py PROGRAM DIRECTORY [MINUTES] [SEED] [RATE]

Damage is done to laps of the pass that are written and not yet read at its end, through another descriptor past the page cache:
a flipped bit (bit-rot), a place of 64 KiB that holds zeroes (lost-write or corrupt), noise in one sector (corrupt), the data of
another place (misdirected-write), and the version before (lost-write). Needs no root; DIRECTORY must allow O_DIRECT.
"""
import json, mmap, os, random, re, select, subprocess, sys, tempfile, time

program, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
minutes = float(sys.argv[3]) if len(sys.argv) > 3 else 10
seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
rate = sys.argv[5] if len(sys.argv) > 5 else "60MB"
chance = random.Random(seed)
UNIT, LAP, LAPS = 64 << 10, 16 << 20, 16
work = tempfile.mkdtemp(dir=directory, prefix="soak-faults-")
path = os.path.join(work, "data")
with open(path, "wb") as file:
    file.truncate(LAP * LAPS)
page = mmap.mmap(-1, UNIT)


def read(at):
    direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
    os.preadv(direct, [page], at)
    os.close(direct)
    return bytes(page)


def write(at, data):
    page[:] = data
    direct = os.open(path, os.O_WRONLY | os.O_DIRECT)
    os.pwritev(direct, [page], at)
    os.close(direct)


injected = {}  # place -> kind of the pass that runs
copied = set()  # places whose data lie in another one
when = {}  # place -> the moment, and what had been told by then
heard = []  # of the pass that runs: the moment and the line
older = {}  # place -> its data of an earlier pass
done, missed, strange, same = [], [], [], []
late = {}  # place -> kind: the last lap was done when the damage was, so that it may have come behind the reading
pass_now, lap_now = 1, 0
count_late = []
environment = dict(os.environ, NARROWS_ARCHIVE=os.path.join(work, "archive"))
soak = subprocess.Popen(
    # Slow enough that something can happen meanwhile.
    [program, "soak", path, "--overwrite", "--for", f"{minutes}m", "--rate", rate, "--hook", "cat >> " + os.path.join(work, "found") + "; echo >> " + os.path.join(work, "found")],
    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
)
expected_class = {"flip": {"bit-rot"}, "zeroes": {"lost-write", "corrupt"}, "noise": {"corrupt"}, "misdirected": {"misdirected-write"}, "older": {"lost-write", "stale-read"}}


said = b""  # of the soak, and not yet looked at


def lines():
    global said
    while True:
        line, end, rest = said.partition(b"\n")
        if end:
            said = rest
            yield line.decode()
            continue
        more = os.read(soak.stderr.fileno(), 1 << 16)
        if not more:
            return
        said += more


def is_late():
    """Whether the reading at the end of the pass may have begun."""
    global said
    while select.select([soak.stderr.fileno()], [], [], 0)[0]:
        more = os.read(soak.stderr.fileno(), 1 << 16)
        if not more:
            break
        said += more
    return f"pass {pass_now}, lap {LAPS} of".encode() in said


def damage():
    # Laps before the last that was told: what follows may be in flight.
    place = chance.randrange(lap_now * LAP // UNIT)
    if place in injected or place in late or place in copied:
        return
    kinds = ["flip", "zeroes", "noise", "misdirected"] + (["older"] if place in older else [])
    kind = chance.choice(kinds)
    data = read(place * UNIT)
    if kind == "flip":
        at = chance.randrange(UNIT * 8)
        new = bytearray(data)
        new[at // 8] ^= 1 << at % 8
    elif kind == "zeroes":
        new = bytes(UNIT)
    elif kind == "noise":
        at = chance.randrange(UNIT // 512) * 512
        new = data[:at] + chance.randbytes(512) + data[at + 512:]
    elif kind == "misdirected":
        other = chance.choice([p for p in range(lap_now * LAP // UNIT) if p != place and p not in injected])
        new = read(other * UNIT)
        # Were this one damaged, too, both would be one: a write that went to the wrong place.
        copied.add(other)
    else:
        new = older[place]
        if new == data:
            # It was kept in this very pass: no damage.
            same.append((pass_now, place))
            return
    write(place * UNIT, bytes(new))
    (late if is_late() else injected)[place] = kind
    when[place] = (time.time(), pass_now, lap_now, said[-200:])


def lap_of(place):
    directory = os.path.join(work, "archive", "soaks")
    for name in os.listdir(directory):
        if name.endswith(".json"):
            state = json.loads(open(os.path.join(directory, name)).read().split("\n", 1)[1])
            return state["pass"], state["lap"], state["laps"][place * UNIT // LAP], state["errors"]


def settle():
    """A pass is whole: all that was done to it must have been told."""
    told = {}
    if os.path.exists(os.path.join(work, "found")):
        for line in open(os.path.join(work, "found")):
            if line.strip():
                finding = json.loads(line)
                # Places back to back with the same fault are one finding.
                start, end = finding["lba"] * 512, (finding["lba"] + finding["sectors"]) * 512
                for place in range(start // UNIT, -(-end // UNIT)):
                    told.setdefault(place, []).append(finding["class"])
        os.remove(os.path.join(work, "found"))
    for place, kind in injected.items():
        classes = told.pop(place, [])
        # Before the first pass there were zeroes: at the end of a write they may as well be a part that did not arrive.
        # What was there before at the end of a write, or zeroes at the end of a first one, is what a torn write leaves.
        torn = kind == "older" or kind == "zeroes" and pass_now == 1
        right = expected_class[kind] | ({"torn-write"} if torn else set())
        fine = len(classes) == 1 and classes[0] in right
        (done if fine else missed).append((pass_now, place, kind, classes))
        if not fine:
            print("MISSED", seed, pass_now, place, kind, classes, "done at", when.get(place), "others", sorted(injected.items()))
            print("  its lap, by the state:", lap_of(place), "\n  heard:", *heard[-40:], sep="\n    ", flush=True)
    strange.extend((pass_now, place, classes) for place, classes in told.items() if place not in late)
    count_late.append(len(late))
    injected.clear()
    copied.clear()
    late.clear()


for line in lines():
    heard = heard[-60:] + [f"{time.time():.3f} {line}"]
    if match := re.match(r"pass (\d+), lap (\d+) of", line):
        pass_now, lap_now = int(match[1]), int(match[2])
        # While the next lap is written, and after the last one while all is read: not any more.
        if 1 < lap_now < LAPS:
            for _ in range(chance.choice([0, 0, 1, 2])):
                lap_now -= 1
                damage()
                lap_now += 1
            place = chance.randrange((lap_now - 1) * LAP // UNIT)
            if place not in injected:
                older[place] = read(place * UNIT)
    elif " is whole" in line:
        settle()
answer_text = soak.stdout.read().decode()
status = soak.wait()
states = os.path.join(work, "archive", "soaks")
kept = [name for name in os.listdir(states) if name.endswith(".json")] if os.path.isdir(states) else []
if len(kept) != 1:
    sys.exit(f"it did not run: {answer_text}")
answer = json.loads(open(os.path.join(states, kept[0])).read().split("\n", 1)[1])
count = {kind: sum(1 for d in done if d[2] == kind) for kind in expected_class}
print(f"seed {seed}: {answer['passes']} passes, {answer['bytes_verified'] / 1e9:.1f} GB verified; {len(done)} of {len(done) + len(missed)} found, once and with their class: {count}")
if sum(count_late):
    print(f"too late to be sure of, and not counted: {sum(count_late)}")
if same:
    print(f"not done, as the older data were the present ones: {same}")
for miss in missed:
    print("not as it must be:", miss)
for odd in strange:
    print("found, and not done:", odd)
subprocess.run(["rm", "-r", work])
sys.exit(bool(missed or strange) or answer["errors"] != {} or status != 1)
