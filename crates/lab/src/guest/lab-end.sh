#!/bin/sh
# lab-end NAME: the host kills the emulator of the guest NAME beside this one, as if its power failed.
. /lab/session
echo "@lab-$NONCE end $1" > /dev/console
