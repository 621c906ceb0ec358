#!/bin/sh
# shells.sh "HOST..." PORT WORKLOAD DIRECTORY [OPTION...]: a workload on these hosts at once, by ssh; rank 0 is on the first.
# A host "-" is this one, without ssh.
set -eu

hosts=$1 port=$2
shift 2
token=${NARROWS_GROUP_TOKEN:-$(head -c 24 /dev/urandom | base64)}
# shellcheck disable=SC2086
set -- "$@" -- $hosts
arguments= size=0 first=
while [ "$1" != -- ]; do
    # For the shell of the other host.
    arguments="$arguments '$(printf %s "$1" | sed "s/'/'\\\\''/g")'"
    shift
done
shift
for host in "$@"; do size=$((size + 1)); done
first=$1
[ "$first" != - ] || first=127.0.0.1
rank=0 waits=
for host in "$@"; do
    command="${NARROWS:-narrows} run $arguments --group --rank $rank/$size --meet ${first#*@}:$port"
    # The token goes by stdin: a command line can be seen by all users of the host.
    script="read -r NARROWS_GROUP_TOKEN; export NARROWS_GROUP_TOKEN; $command < /dev/null"
    if [ "$host" = - ]; then
        printf '%s\n' "$token" | sh -c "$script" &
    else
        printf '%s\n' "$token" | ssh -o BatchMode=yes -- "$host" "sh -c '$(printf %s "$script" | sed "s/'/'\\\\''/g")'" &
    fi
    waits="$waits $!"
    rank=$((rank + 1))
done
code=0
for one in $waits; do wait "$one" || code=$?; done
exit "$code"
