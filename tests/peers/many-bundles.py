#!/usr/bin/env python3
"""many-bundles.py TEMPLATES OUT COUNT MACHINES: COUNT bundles of MACHINES machines, each made of a bundle below TEMPLATES with other
names, serial numbers, times and values. An archive for each machine: OUT/machine-N/runs/ID. The same arguments give the same bundles."""
import hashlib, json, os, random, sys, glob

templates, out, count, machines = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
found = sorted(glob.glob(f"{templates}/**/run.json", recursive=True))
if not found:
    sys.exit(f"no bundle below {templates}")
loaded = []
for path in found:
    folder = os.path.dirname(path)
    files = {name: open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder)
             if name not in ("run.json", "SHA256SUMS", "order")}
    loaded.append((json.load(open(path)), files))
state = random.Random(7)
for i in range(count):
    run, files = loaded[i % len(loaded)]
    run = json.loads(json.dumps(run))
    machine = i * 7919 % machines
    day, second = divmod(i * 1663, 86400)
    month, day = divmod(day, 28)
    started = f"2025{1 + month % 12:02}{1 + day:02}T{second // 3600:02}{second // 60 % 60:02}{second % 60:02}Z"
    ident = f"{started}-{i % 65536:04x}{state.getrandbits(16):04x}"
    speed = 1 + 0.2 * random.Random(machine).gauss(0, 1) ** 2
    run["id"] = ident
    run["environment"]["hostname"] = f"machine-{machine}"
    for session in run["sessions"]:
        session["started"] = f"{started[:4]}-{started[4:6]}-{started[6:11]}:{started[11:13]}:{started[13:15]}Z"
    for layer in run["target"]["stack"]["layers"]:
        if layer["facts"].get("serial"):
            layer["facts"]["serial"] = f"SERIAL{machine:06}{i % len(loaded)}"
        if layer["kind"] == "disk":
            layer["facts"]["firmware_revision"] = f"1.{machine % 4}"
    for phase in run["phases"]:
        noise = speed * (1 + 0.03 * state.gauss(0, 1))
        for metric in phase["metrics"]:
            factor = noise if metric.get("better") == "higher" else 1 / noise
            for key in ("value", "low", "high"):
                if metric.get(key) is not None:
                    metric[key] *= factor
    bundle = f"{out}/machine-{machine}/runs/{ident}"
    os.makedirs(bundle)
    digits = int(started.replace("T", "").replace("Z", "")) << 16 | i % 65536
    content = dict(files) | {"run.json": json.dumps(run).encode() + b"\n", "order": f"{digits}\n".encode()}
    for name, data in content.items():
        if name == "raw":
            continue
        open(f"{bundle}/{name}", "wb").write(data)
    sums = "".join(f"{hashlib.sha256(content[n]).hexdigest()}  {n}\n" for n in sorted(content))
    open(f"{bundle}/SHA256SUMS", "w").write(sums)
