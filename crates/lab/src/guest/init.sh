#!/bin/busybox sh
# The first process of every machine of the lab. What it tells the host are lines on the console that begin with @lab- and
# a number that only this session knows; /lab/session says what it has to do.

/bin/busybox mkdir -p /bin /sbin /proc /sys /dev /tmp /run /mnt /etc /lab/out
/bin/busybox --install -s /bin
# busybox first puts its links where nothing of a package stands.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/lab NARROWS_ARCHIVE=/lab/out/archive TERM=${TERM:-linux}
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null || mdev -s
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
ADDRESS='' HOSTS='' GUESTS='' BESIDE=no
. /lab/session
hostname "$HOST_NAME"
date -s "@$NOW" > /dev/null
echo "root:x:0:0:root:/lab:/bin/sh" > /etc/passwd
ip link set lo up 2>/dev/null

say() { echo "@lab-$NONCE $*" > /dev/console; }

leave() {
    sync
    say done
    if [ "$POWERS_OFF" = yes ]; then reboot -f; fi
    # Boards only halt: the host ends the emulator. Going on would be a panic.
    while :; do sleep 3600; done
}

while read -r file parameters; do
    name=${file#*-}
    name=${name%.ko}
    # Only built-in drivers read the kernel's command line themselves.
    for word in $(cat /proc/cmdline); do
        case $word in "$name".*) parameters="$parameters ${word#*.}" ;; esac
    done
    # shellcheck disable=SC2086
    insmod "/lab/modules/$file" $parameters || say note "module $name was not loaded"
done < /lab/modules/order
mount -t configfs config /sys/kernel/config 2>/dev/null

tries=0
for device in $WAIT_FOR; do
    until [ -e "$device" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ]; then
            dmesg | tail -n 40 > /dev/console
            say missing "$device"
            leave
        fi
        usleep 100000
    done
done

if [ -n "$ADDRESS" ]; then
    printf '%s' "$HOSTS" > /etc/hosts
    ifconfig lo 127.0.0.1 up
    ifconfig eth0 "$ADDRESS" netmask 255.255.255.0 up || say note "there is no network"
fi
# The host ends who waits in vain, and says which guest is not ready.
for guest in $GUESTS; do
    until lab-on "$guest" true > /dev/null 2>&1; do sleep 1; done
done

cd /lab || exit 1
if ! sh -e /lab/setup > /lab/out/setup.log 2>&1; then
    cat /lab/out/setup.log > /dev/console
    say setup-failed
    leave
fi

say ready
# A guest beside another does what that one says, until the host ends it.
while [ "$BESIDE" = yes ]; do nc -ll -p 7 -e /bin/lab-serve; done
if [ "$INTERACTIVE" = yes ]; then
    echo "This is $HOST_NAME. What you leave in /lab/out is brought back when you say exit."
    setsid cttyhack sh
    status=0
else
    # Each stream goes to a file, whole, and to the console, for whoever waits. A console is slow: where nobody watches, its
    # log gets the beginning.
    to_console() {
        if [ "$LIVE" = yes ]; then cat; else head -c 65536; fi
        cat > /dev/null
    }
    mkfifo /run/stdout /run/stderr
    for stream in stdout stderr; do
        { tee "/lab/out/$stream" < "/run/$stream" || say lost "$stream"; } | to_console &
    done
    sh /lab/command > /run/stdout 2> /run/stderr
    status=$?
    wait
fi
say exit "$status"

dmesg > /lab/out/dmesg
case $TRANSPORT in
    virtio-serial)
        for port in /sys/class/virtio-ports/*; do
            if [ "$(cat "$port/name")" = narrows.lab ]; then tar -C /lab/out -cf "/dev/${port##*/}" .; fi
        done
        ;;
    disk)
        tar -C /lab/out -cf - . | dd of="$OUT_DEVICE" bs=64k conv=fsync 2>/dev/null || say note "results were not written"
        ;;
    console)
        # A message of the kernel would stand in the middle of them.
        dmesg -n 1
        say results
        tar -C /lab/out -cf - . | gzip | base64
        say results-end
        ;;
esac
leave
