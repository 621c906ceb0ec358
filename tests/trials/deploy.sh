#!/usr/bin/env bash
# What deploy/ has for other people's launchers, run as it is written: the OCI image (built by buildah, run by chroot isolation), the manifests
# (the schemas of Kubernetes, and each container in the image's own root), the LAVA definition (lava-run of lava-dispatcher, with this machine as the
# device, reached by ssh; test-runner.py where TEST_DEFINITIONS is a checkout of Linaro's), the Ansible role (two hosts, both this machine), the
# ReFrame tests (local, and Slurm's four nodes on this host), the systemd units. slurm.sbatch, mpirun.sh and shells.sh are tried by
# tests/root/group.sh. NARROWS is the binary; STATIC the static one, by default what `cargo xtask static` built; VENV-deploy and VENV-lava are
# where the tools of PyPI, and lava-dispatcher, are kept. What is not here is said, and makes it a skip. Needs root.
set -euo pipefail
. "$(dirname "$0")/../preamble"
. "$(dirname "$0")/../slurm"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deploy=$here/deploy
static=${STATIC:-$here/target/$(uname -m)-unknown-linux-musl/dist/narrows}
: "${VENV:?a directory for the Python tools}"
tools=$VENV-deploy
lava=$VENV-lava
scratch=$(in_memory 700000000)
port=$((20000 + RANDOM % 10000))
daemons=()
trap 'rm -rf "$scratch"' EXIT
# What these tools leave in the directory for temporary files.
export TMPDIR=$scratch
[[ $(id -u) -eq 0 ]] || cannot "only root may mount and change the root"
needs python3

stop() { for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done; }

# part NAME FUNCTION: in a shell of its own; one that cannot run is counted, and the others go on.
missing=
part() {
    local status=0 begun=$SECONDS
    printf -- '-- %s\n' "$1"
    set +e
    (
        trap stop EXIT
        set -e
        "$2"
    ) </dev/null
    status=$?
    set -e
    case $status in
        0) printf '   %s s\n' "$((SECONDS - begun))" ;;
        77) missing=yes ;;
        *) exit "$status" ;;
    esac
}

pypi() { python_tools "$tools" reframe-hpc==4.10.4 ansible-core==2.19.14 kubernetes-validate==1.37.0; }
needs_static() { [[ -x $static ]] || cannot "there is no static binary (cargo xtask static)"; }

# is_run FILE: a document of a run, not of an error.
is_run() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not d.get("run_id") or not d["phases"])' "$1" || fail "$1 is no document of a run"
}

buildah_here() { buildah --root "$scratch/storage" --runroot "$scratch/runroot" --storage-driver vfs "$@"; }

image() {
    needs_static
    needs buildah
    buildah_here bud --isolation chroot -f "$deploy/oci/Containerfile" -t narrows:0.1.0 "$(dirname "$static")" >"$scratch/log" 2>&1 || fail "buildah builds no image"
    buildah_here from --name narrows-test narrows:0.1.0 >"$scratch/log" 2>&1 || fail "no container of the image"
    local root
    root=$(buildah_here mount narrows-test)
    [[ $(cd "$root" && find . -type f) == ./narrows ]] || fail "the image has $(cd "$root" && find . -type f | head)"
    buildah_here inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}} {{.OCIv1.Config.Env}}' narrows:0.1.0 >"$scratch/out"
    grep -q '^\[/narrows\] \[--help\] .*NARROWS_ARCHIVE=/archive' "$scratch/out" || fail "the image is another: $(cat "$scratch/out")"
    local version
    version=$("$narrows" --version | awk '{ print $2 }')
    [[ $(buildah_here inspect --format '{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}' narrows:0.1.0) == "$version" ]] || fail "the image's label is not $version"
    if grep -h 'image: ' "$deploy"/kubernetes/*.yaml | grep -qv "image: narrows:$version\$"; then fail "a manifest has an image that is not narrows:$version"; fi
    mkdir "$scratch/data" "$scratch/archive"
    in_image() { buildah_here run --isolation chroot -v "$scratch/data:/data" -v "$scratch/archive:/archive" narrows-test -- "$@"; }
    local status=0
    in_image /narrows run mix /data --set time=300ms --set region=4MiB --json >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq 0 || $status -eq 4 ]] || fail "run in the image ended with $status"
    is_run "$scratch/out"
    status=0
    in_image /narrows check /data --for etcd --budget 10s --max-write 50MB --json >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq 0 || $status -eq 1 || $status -eq 4 ]] || fail "check in the image ended with $status"
    is_run "$scratch/out"
    status=0
    in_image /narrows check sim:a1-card --for A2 >"$scratch/out" 2>"$scratch/err" || status=$?
    [[ $status -eq 1 ]] || fail "a card that is no A2: exit code $status in the image"
    [[ $("$narrows" runs list --archive "$scratch/archive" --json | grep -c '"state": "complete"') -ge 3 ]] || fail "the image's runs are not in the mounted archive"
    [[ -z $(ls -A "$scratch/data") ]] || fail "something was left in the directory"
    printf 'buildah %s: one file, %s bytes; run and check inside\n' "$(buildah --version | awk '{ print $3 }')" "$(stat -c %s "$root/narrows")"
}

# pod ARGUMENT...: a container of a manifest, by its command line.
pod() { "$tools/bin/python" "$here/tests/trials/pod.py" "$@"; }

kubernetes() {
    pypi
    local version file
    for version in 1.28 1.37; do
        for file in "$deploy"/kubernetes/*.yaml; do
            "$tools/bin/kubernetes-validate" --strict -k $version "$file" >"$scratch/log" 2>&1 || fail "$file is not valid for $version"
        done
    done
    sed 's/completionMode/completionsMode/' "$deploy/kubernetes/group.yaml" >"$scratch/bad.yaml"
    if "$tools/bin/kubernetes-validate" --strict -k 1.37 "$scratch/bad.yaml" >"$scratch/log" 2>&1; then fail "what is not valid was taken"; fi
    printf 'schemas of 1.28 and 1.37: valid\n'
    needs_static
    needs unshare chroot
    local root=$scratch/pod work=$scratch/work index pids=() status
    mkdir "$root" "$work"
    cp "$static" "$root/narrows"
    for index in 0 1 2 3; do
        # Nothing is replaced; phases are shorter.
        pod "$deploy/kubernetes/group.yaml" Job narrows "$root" "$work" --index $index -- --set time=500ms --set region=4MiB \
            >"$scratch/out$index" 2>"$scratch/err$index" &
        pids[index]=$!
    done
    for index in 0 1 2 3; do
        status=0
        wait "${pids[index]}" || status=$?
        [[ $status -eq 0 || $status -eq 4 ]] || fail "index $index ended with $status: $(tail -5 "$scratch/err$index" "$scratch/out$index")"
    done
    python3 - "$scratch/out0" <<'PYTHON' || fail "index 0 has no sums"
import json, sys
document = json.load(open(sys.argv[1]))
group = document["group"]
assert group["rank"] == 0 and group["size"] == 4 and group["ended"] is None, group
assert group["machines"] == [f"narrows-group-{index}" for index in range(4)], group["machines"]
sums = [m for p in document["phases"] for m in p["metrics"] if ".group." in m["id"] and not m["id"].startswith("layout")]
# A busy machine makes numbers refused, which is said; none is missing.
assert len(sums) == 18 and all(m["value"] or m["reasons"] for m in sums), sums
print(f"indexed Job: 4 ranks, {sum(m['status'] == 'measured' for m in sums)} of {len(sums)} sums valid, overlap at least "
      f"{min(p['overlap_percent'] for p in group['phases'] if p['name'] != 'layout'):.0f} %")
PYTHON
    preflight() {
        local status=0
        # A busy machine is not waited for.
        pod "$deploy/kubernetes/preflight.yaml" DaemonSet "$1" "$root" "$work" "${@:2}" >"$scratch/out" 2>"$scratch/err" || status=$?
        printf '%s' $status
    }
    status=$(preflight check --argument=--wait-quiet=--wait-quiet=1s)
    [[ $status =~ ^[014]$ ]] || fail "the preflight ended with $status"
    is_run "$scratch/out"
    status=$(preflight check --argument=/data=sim:class4-card,flush=20ms)
    [[ $status -eq 1 ]] || fail "a disk that is too slow: exit code $status"
    [[ $(preflight watch -- --count=1) -eq 0 ]] || fail "the container that keeps the pod does not run"
    printf 'preflight: answered, and 1 for a disk that is too slow\n'
}

# lava_dispatcher: unpacked, as installing it would change the machine, below $lava; its libraries are there too.
lava_dispatcher() {
    python_tools "$lava" configobj==5.0.9 jinja2==3.1.6 pexpect==4.9.0 pytz==2026.6 pyudev==0.24.5 pyyaml==6.0.4 requests==2.34.2 \
        setproctitle==1.3.8 voluptuous==0.16.0
    if [[ ! -d $lava/dispatcher ]]; then
        needs apt-get dpkg-deb
        mkdir "$scratch/packages"
        (cd "$scratch/packages" && apt-get download -q lava-common lava-dispatcher lava-dispatcher-host) >"$scratch/log" 2>&1 ||
            cannot "there is no lava-dispatcher (Debian 12; after apt-get update): $(grep -m 1 ^E: "$scratch/log" || true)"
        for package in "$scratch"/packages/*.deb; do dpkg-deb -x "$package" "$lava/unpacked"; done
        # For images and networks of devices that are not reached by ssh.
        for module in guestfs magic netifaces; do : >"$lava/unpacked/usr/lib/python3/dist-packages/$module.py"; done
        mv "$lava/unpacked" "$lava/dispatcher"
    fi
}

lava_definition() {
    lava_dispatcher
    needs git ssh ssh-keygen sshd
    local directory=$scratch/lava job=9$$
    mkdir -p "$directory/repository/deploy" "$directory/tmp"
    cp -r "$deploy/lava" "$directory/repository/deploy"
    git -C "$directory/repository" init -q
    git -C "$directory/repository" add -A
    git -C "$directory/repository" -c user.name=test -c user.email=test@localhost commit -qm test
    chmod 755 "$scratch"
    ssh-keygen -q -t ed25519 -N '' -f "$directory/host"
    ssh-keygen -q -t ed25519 -N '' -f "$directory/key"
    printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $directory/host" "AuthorizedKeysFile $directory/key.pub" "PidFile $directory/pid" \
        'StrictModes no' 'UsePAM no' 'PermitRootLogin prohibit-password' 'Subsystem sftp internal-sftp' >"$directory/sshd_config"
    mkdir -p /run/sshd
    "$(command -v sshd)" -D -e -f "$directory/sshd_config" 2>"$scratch/sshd.log" &
    daemons+=($!)
    cat >"$directory/device.yaml" <<YAML
hostname: this-machine
device_info: []
timeouts: {actions: {}, connections: {}}
constants:
  default-shell-prompt: 'root@'
  failure_retry: 1
  boot_retry: 1
  spawn_maxread: '4092'
  posix: {lava_test_sh_cmd: /bin/sh, lava_test_results_dir: /lava-%s, lava_test_shell_file: ~/.bashrc}
actions:
  deploy:
    connections: {serial: , ssh: }
    methods:
      ssh:
        host: 127.0.0.1
        port: $port
        user: root
        identity_file: $directory/key
        options: [-o, StrictHostKeyChecking=no, -o, UserKnownHostsFile=/dev/null, -o, IdentitiesOnly=yes, -o, BatchMode=yes, -o, LogLevel=ERROR]
  boot: {connections: {serial: , ssh: }, methods: {ssh: }}
YAML
    # A device that is good enough, and one whose processor is taken away: its numbers are refused.
    cat >"$directory/job.yaml" <<YAML
job_name: narrows
device_type: ssh
priority: medium
visibility: public
timeouts: {job: {minutes: 5}, action: {minutes: 4}, connection: {minutes: 1}}
actions:
  - deploy: {to: ssh, os: debian}
  - boot: {method: ssh, prompts: ['root@', '# ']}
  - test:
      timeout: {minutes: 4}
      definitions:
        - {from: git, repository: $directory/repository, path: deploy/lava/narrows.yaml, name: good, parameters: {TARGET: sim:a1-card, FOR: A1, NARROWS: $narrows}}
        - {from: git, repository: $directory/repository, path: deploy/lava/narrows.yaml, name: slow, parameters: {TARGET: sim:a1-card, FOR: A2, NARROWS: $narrows}}
        - {from: git, repository: $directory/repository, path: deploy/lava/narrows.yaml, name: refused, parameters: {TARGET: "sim:a1-card,steal=0.3", NARROWS: $narrows}}
        - {from: git, repository: $directory/repository, path: deploy/lava/narrows.yaml, name: absent, parameters: {TARGET: /nonexistent, NARROWS: $narrows}}
YAML
    printf 'dispatcher_ip: 127.0.0.1\n' >"$directory/dispatcher.yaml"
    # Where it keeps what it downloads is fixed, and not here.
    printf '%s\n' 'import runpy, sys' 'import lava_common.constants' 'lava_common.constants.DISPATCHER_DOWNLOAD_DIR = sys.argv[1]' \
        'sys.argv = sys.argv[2:]' 'runpy.run_path(sys.argv[0], run_name="__main__")' >"$directory/start.py"
    local status=0
    PYTHONPATH=$lava/dispatcher/usr/lib/python3/dist-packages "$lava/bin/python" "$directory/start.py" "$directory/tmp" "$lava/dispatcher/usr/bin/lava-run" \
        --job-id $job --output-dir "$directory/out" --device "$directory/device.yaml" --dispatcher "$directory/dispatcher.yaml" \
        "$directory/job.yaml" >"$scratch/log" 2>&1 || status=$?
    # What it left on the device, which is this machine.
    rm -rf /lava-$job /lava-$job-overlay-*.tar.gz
    [[ $status -eq 0 ]] || fail "lava-run ended with $status"
    "$lava/bin/python" - "$scratch/log" <<'PYTHON' || fail "LAVA has other results"
import sys, yaml
yaml.SafeLoader.add_constructor("!", lambda loader, node: node.value)
lines = [yaml.safe_load(line) for line in open(sys.argv[1])]
results = {}
for line in lines:
    if line["lvl"] == "results" and line["msg"]["definition"] != "lava":
        results.setdefault(line["msg"]["definition"].split("_", 1)[1], {})[line["msg"]["case"]] = line["msg"]
check = {name: cases["narrows-check"]["result"] for name, cases in results.items()}
assert check == {"good": "pass", "slow": "fail", "refused": "pass", "absent": "unknown"}, check
iops = results["good"]["rand-read-qd1.iops"]
assert iops["result"] == "pass" and iops["units"] == "ops_per_s" and 2000 < float(iops["measurement"]) < 5000, iops
refused = [case for case in results["refused"].values() if case["result"] == "unknown"]
assert len(refused) > 5 and not any("measurement" in case for case in refused), results["refused"]
for cases in results.values():
    assert all(("measurement" in case) == (case["result"] == "pass") for name, case in cases.items() if name != "narrows-check"), cases
assert len(results["absent"]) == 1, results["absent"]
print(f"lava-run: {len(results['good'])} test cases with measurements, {len(refused)} refused ones without")
PYTHON
    if [[ -z ${TEST_DEFINITIONS:-} ]]; then return 0; fi
    (cd "$directory/repository" && REPO_PATH=$PWD "$lava/bin/python" "$TEST_DEFINITIONS/automated/utils/test-runner.py" -e -o "$directory/linaro" \
        -d deploy/lava/narrows.yaml -r TARGET=sim:a1-card FOR=A1 NARROWS="$narrows") >"$scratch/log" 2>&1 || fail "test-runner.py does not run the definition"
    grep -q '^narrows-check,rand-read-qd1.iops,pass,3[0-9.]*,ops_per_s,' "$directory/linaro/result.csv" || fail "test-runner.py has no measurement"
    printf 'test-runner.py: %s results\n' "$(($(wc -l <"$directory/linaro/result.csv") - 1))"
}

ansible_role() {
    pypi
    local directory=$scratch/ansible
    mkdir "$directory"
    cat >"$directory/hosts" <<INI
[all]
first narrows_archive=$directory/first narrows_path=$directory/narrows1
second narrows_archive=$directory/second narrows_path=$directory/narrows2
[all:vars]
ansible_connection=local
ansible_host=127.0.0.1
ansible_become=false
ansible_python_interpreter=$tools/bin/python
narrows_binary=$([[ -x $static ]] && echo "$static" || echo "$narrows")
narrows_results=$directory/results
INI
    # play ARGUMENT...: the end of what it says is in $scratch/out; its exit code.
    play() {
        local status=0
        HOME=$scratch ANSIBLE_HOME=$directory/home ANSIBLE_NOCOLOR=1 ANSIBLE_PIPELINING=true LC_ALL=C.UTF-8 "$tools/bin/ansible-playbook" -i "$directory/hosts" "$deploy/ansible/check.yml" "$@" \
            >"$scratch/out" 2>"$scratch/err" || status=$?
        printf '%s' $status
    }
    [[ $(play --limit first) -ne 0 ]] || fail "nothing to measure was given, and that was right"
    grep -q 'narrows_target' "$scratch/out" || fail "it does not say what is missing"
    # Both together on a store that they share, the second time without a change.
    local group=(-e narrows_target=sim:nvme -e narrows_for=etcd -e narrows_group_port=$((port + 1)))
    [[ $(play "${group[@]}" --check) -eq 0 && ! -e $directory/first ]] || fail "only to look changed something, or ended with an error"
    [[ $(play "${group[@]}") -eq 0 ]] || fail "the role ended with an error"
    [[ $(play "${group[@]}") -eq 0 ]] || fail "the role ended with an error the second time"
    [[ $(grep -c 'changed=0 .*failed=0 ' "$scratch/out") -eq 2 ]] || fail "the second run changed something: $(tail -4 "$scratch/out")"
    for host in first second; do
        is_run "$directory/results/$host/check.json"
        mkdir "$directory/merged-$host"
        "$narrows" runs merge "$directory/results/$host" --archive "$directory/merged-$host" >"$scratch/log" 2>&1 || fail "the bundle of $host is not whole"
    done
    python3 -c 'import json, sys; g = json.load(open(sys.argv[1]))["group"]; assert (g["rank"], g["size"], g["ended"]) == (0, 2, None), g' \
        "$directory/results/first/check.json" || fail "they were no group"
    [[ $(play --limit first -e narrows_target=sim:a1-card -e narrows_for=A2) -eq 2 ]] || fail "a host that is no A2 passes"
    grep -q 'No, not good for application class A2' "$scratch/out" || fail "it does not say what is not good enough"
    # Without a demand only the past decides: A2 is made so by hand.
    local any=(--limit first -e narrows_target=sim:a1-card)
    [[ $(play "${any[@]}") -eq 0 ]] || fail "without a demand it ended with an error"
    python3 - "$directory/first" <<'PYTHON'
import glob, json, sys
path = max(glob.glob(sys.argv[1] + "/ansible-*.json"), key=lambda p: json.load(open(p))["run_id"])
document = json.load(open(path))
next(r for r in document["ratings"] if r["class"] == "A2")["indication"] = "above"
json.dump(document, open(path, "w"))
PYTHON
    [[ $(play "${any[@]}" -e narrows_again=true) -eq 2 ]] || fail "a worse rating passes"
    grep -q 'not good any more for A2' "$scratch/out" || fail "it does not say what is worse"
    printf 'ansible-core 2.19: installed, measured, collected; nothing changed the second time; not good enough, worse and a group as they should be\n'
}

# reframe SITE ARGUMENT...: what it says is in $scratch/out; its exit code.
reframe_here() {
    local site=$1 status=0
    shift
    HOME=$scratch "$tools/bin/reframe" --nocolor -C "$site" --prefix="$scratch/reframe" --report-file="$scratch/report.json" -c "$deploy/reframe/narrows.py" \
        -S program="$narrows" "$@" -r >"$scratch/out" 2>&1 || status=$?
    printf '%s' $status
}

# site SCHEDULER LAUNCHER: a site with one partition.
site() {
    printf '%s\n' "site_configuration = {'systems': [{'name': 'here', 'hostnames': ['.*'], 'partitions': [{'name': 'all', 'scheduler': '$1', 'launcher': '$2'," \
        "'environs': ['builtin']}]}]}" >"$scratch/site.py"
}

reframe_local() {
    pypi
    site local local
    [[ $(reframe_here "$scratch/site.py" -S target=sim:a1-card -S use=A1) -eq 0 ]] || fail "ReFrame's check fails"
    grep -q 'P: rand_read_qd1_iops: 3[0-9.]* 1/s' "$scratch/out" || fail "it has no numbers"
    grep -q 'SKIP.*NarrowsGroup.*srun or mpirun' "$scratch/out" || fail "one process was taken for a group"
    [[ $(reframe_here "$scratch/site.py" -n NarrowsCheck -S target=sim:a1-card -S use=A2) -eq 1 ]] || fail "a card that is no A2 passes"
    grep -q 'sanity error: No, not good for application class A2' "$scratch/out" || fail "it does not say why"
    [[ $(reframe_here "$scratch/site.py" -n NarrowsCheck -S target=/nonexistent) -eq 1 ]] || fail "a target that is not there passes"
    [[ $(reframe_here "$scratch/site.py" -n NarrowsCheck -S target=sim:a1-card,steal=0.3) -eq 1 ]] || fail "refused numbers pass"
    grep -q 'all numbers were refused' "$scratch/out" || fail "it does not say that they were refused"
    printf 'ReFrame 4.10, local: numbers, and what is not good enough, not there or refused fails\n'
}

reframe_slurm() {
    pypi
    needs slurmctld slurmd srun
    four_nodes "$scratch/slurm" $((port + 10)) || fail "Slurm's nodes do not come: $(tail -3 "$scratch/slurm/log")"
    site squeue srun
    # All nodes are this host, which has no other names.
    [[ $(reframe_here "$scratch/site.py" -n NarrowsGroup -S target=sim:nvme -S num_tasks=4 -S meet=127.0.0.1:$((port + 2)) -S extra='--set time=500ms') -eq 0 ]] ||
        fail "ReFrame's group fails"
    local sum
    sum=$(grep -o 'read100_group_iops: 1[0-9]\{6\}\.[0-9]* 1/s' "$scratch/out") || fail "it has no sums"
    [[ $(reframe_here "$scratch/site.py" -n NarrowsCheck -S target=sim:a1-card -S use=A1) -eq 0 ]] || fail "ReFrame's check fails"
    printf 'ReFrame 4.10, Slurm %s: four nodes together, %s\n' "$(srun --version | awk '{ print $2 }')" "$sum"
}

systemd_units() {
    needs systemd-analyze systemd-escape
    local root=$scratch/systemd unit target=$scratch/some-data instance file=$scratch/textfile/narrows.prom
    mkdir -p "$root/etc/systemd/system" "$root/usr/local/bin" "$root/bin" "$target" "$scratch/textfile"
    mkdir -p "$root/usr/lib/systemd/system"
    cp /usr/lib/systemd/system/*.target /usr/lib/systemd/system/*.slice "$root/usr/lib/systemd/system" 2>/dev/null || true
    cp "$deploy"/systemd/* "$root/etc/systemd/system"
    cp "$(command -v chmod)" "$(command -v mv)" "$root/bin"
    cp "$(type -P true)" "$root/usr/local/bin/narrows"
    instance=$(systemd-escape --path "$target")
    for unit in "narrows-metrics@$instance.service" "narrows-metrics@$instance.timer"; do
        systemd-analyze verify --man=no --root="$root" "$unit" >"$scratch/log" 2>&1 || fail "$unit is not valid"
        # An unknown key is only said.
        [[ ! -s $scratch/log ]] || fail "$unit: systemd-analyze has something to say"
    done
    # begin: what the service's ExecStart lines say, as systemd would do it one by one; /etc/default/narrows-metrics is the test's.
    begin() {
        python3 - "$deploy/systemd/narrows-metrics@.service" "$target" "$instance" "$narrows" "$scratch" <<'PYTHON'
import os, re, subprocess, sys
unit, target, instance, narrows, scratch = sys.argv[1:]
lines = [line.split("=", 1) for line in open(unit).read().split("[Service]")[1].splitlines() if "=" in line and not line.startswith("#")]
environment = dict(value.split("=", 1) for key, value in lines if key == "Environment")
environment |= {"NARROWS_ARCHIVE": f"{scratch}/state", "TEXTFILE": f"{scratch}/textfile", "OPTIONS": "--budget=8s --max-write=50MB"}
good = {0, *(int(code) for key, value in lines if key == "SuccessExitStatus" for code in value.split())}
commands = [value for key, value in lines if key == "ExecStart"]
assert len(commands) == 5, commands
for command in commands:
    words = []
    for word in command.split():
        word = word.replace("%f", target).replace("%i", instance)
        whole = re.fullmatch(r"\$(\w+)", word)
        words += environment[whole[1]].split() if whole else [re.sub(r"\$\{(\w+)\}", lambda m: environment[m[1]], word)]
    words[0] = narrows if words[0] == "/usr/local/bin/narrows" else words[0]
    code = subprocess.run(words, env=os.environ | environment, stdout=subprocess.DEVNULL).returncode
    assert code in good, (code, words)
PYTHON
    }
    begin 2>"$scratch/err" || fail "the service fails"
    local first
    first=$(stat -c %i "$file")
    # A reader that has it open keeps all of it: the next one is another file.
    exec 9<"$file"
    begin 2>"$scratch/err" || fail "the service fails the second time"
    [[ $(stat -c %i "$file") -ne $first ]] || fail "the file was not replaced but written again"
    grep -q '^narrows_run_info' <&9 || fail "a reader lost what it read"
    exec 9<&-
    [[ $(stat -c %a "$file") == 644 && $(ls -A "$scratch/textfile") == narrows.prom ]] || fail "the directory has $(ls -lA "$scratch/textfile")"
    [[ $(grep -c "^narrows_run_info{target=\"$target\"" "$file") -eq 1 ]] || fail "not one run of the target"
    printf 'systemd %s: units valid; the service twice: %s samples\n' "$(systemd-analyze --version | awk 'NR == 1 { print $2 }')" "$(grep -c '^narrows_' "$file")"
    needs promtool prometheus-node-exporter
    promtool check metrics <"$file" >"$scratch/log" 2>&1 || fail "promtool does not accept the metrics"
    chmod 755 "$scratch"
    # As another user, as Debian has it.
    runuser -u nobody -- prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$scratch/textfile" \
        --web.listen-address="127.0.0.1:$((port + 3))" >"$scratch/log" 2>&1 &
    daemons+=($!)
    served() { python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$((port + 3))/metrics" >"$scratch/out" 2>/dev/null; }
    until_so 20 served || fail "the node exporter serves nothing"
    grep -q '^node_textfile_scrape_error 0' "$scratch/out" || fail "the node exporter could not read the file"
    [[ $(grep -c '^narrows_' "$scratch/out") -eq $(grep -c '^narrows_' "$file") ]] || fail "it serves other samples"
    printf 'node exporter: all served, as another user\n'
}

part 'OCI image' image
part 'Kubernetes' kubernetes
part 'LAVA' lava_definition
part 'Ansible' ansible_role
part 'ReFrame, local' reframe_local
part 'ReFrame, Slurm' reframe_slurm
part 'systemd' systemd_units
# What ran has passed; that the rest did not is counted.
[[ -z $missing ]] || exit 77
