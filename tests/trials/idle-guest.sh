#!/usr/bin/env bash
# `check .` on the idle root file system of a Debian guest, as the owner of a board runs it: how many of its numbers are marked.
#
#     tests/trials/idle-guest.sh STATIC_PROGRAM [ROUNDS] [DIRECTORY]
#
# Needs root, debootstrap, qemu-system-x86 and the network. The guest is Debian 12 with systemd, journald, rsyslog, cron and udev on
# ext4 on a virtio disk, emulated unless ACCELERATION=kvm; it waits two minutes after its start, then runs the checks one after the other and goes off. DIRECTORY keeps
# the root file system for the next time.
set -euo pipefail
program=$1
rounds=${2:-3}
work=${3:-$(mktemp -d)}
root=$work/root
suite=bookworm

if [[ ! -e $root/boot/vmlinuz ]]; then
    packages=systemd-sysv,udev,dbus,rsyslog,cron,man-db,iproute2
    debootstrap --variant=minbase --include=$packages $suite "$root"
    mount --bind /proc "$root/proc"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q linux-image-cloud-amd64 || { umount "$root/proc"; exit 1; }
    umount "$root/proc"
    ln -sf "$(basename "$(ls "$root"/boot/vmlinuz-*)")" "$root/boot/vmlinuz"
    ln -sf "$(basename "$(ls "$root"/boot/initrd.img-*)")" "$root/boot/initrd.img"
fi

install -m 755 "$program" "$root/usr/local/bin/narrows"
cat > "$root/usr/local/bin/trial" <<TRIAL
#!/bin/sh
export HOME=/home
cd /home
sleep 120
for round in \$(seq $rounds); do
    narrows check . --json > check-\$round.json 2> check-\$round.err
    sleep 10
done
sync
systemctl poweroff
TRIAL
chmod 755 "$root/usr/local/bin/trial"
cat > "$root/etc/systemd/system/trial.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/local/bin/trial
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../trial.service "$root/etc/systemd/system/multi-user.target.wants/trial.service"
echo "/dev/vda / ext4 defaults 0 1" > "$root/etc/fstab"

image=$work/disk.img
rm -f "$image"
truncate -s 16G "$image"
mkfs.ext4 -q -d "$root" "$image"
timeout 3600 qemu-system-x86_64 -machine q35,accel=${ACCELERATION:-tcg} -smp 2 -m 2048 -display none -serial "file:$work/console" -no-reboot \
    -kernel "$root/boot/vmlinuz" -initrd "$root/boot/initrd.img" -append "root=/dev/vda rw console=ttyS0 quiet" \
    -drive "file=$image,if=virtio,format=raw,cache=none" -nic none

for round in $(seq "$rounds"); do
    debugfs -R "cat /home/check-$round.json" "$image" > "$work/check-$round.json" 2> "$work/debugfs"
done
python3 - "$work" "$rounds" <<'REPORT'
import json, sys
work, rounds = sys.argv[1], int(sys.argv[2])
for number in range(1, rounds + 1):
    check = json.load(open(f"{work}/check-{number}.json"))
    metrics = [m for m in check["metrics"] if m["status"] not in ("skipped", "not-applicable")]
    marked = [m for m in metrics if m["value"] is None]
    reasons = sorted({r["code"] if isinstance(r, dict) else r for m in marked for r in m["reasons"]})
    print(f"round {number}: {len(marked)} of {len(metrics)} numbers marked", *reasons)
    for m in marked:
        print("   ", m["id"], m["status"], *[r.get("text", "") if isinstance(r, dict) else r for r in m["reasons"]][:1])
REPORT
