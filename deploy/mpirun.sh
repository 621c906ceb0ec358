#!/bin/sh
# mpirun.sh RANKS HOST:PORT WORKLOAD DIRECTORY [OPTION...]: a workload by so many ranks at once; rank 0 is on HOST, whose PORT is
# free. MPIRUN has options for mpirun, for example "--hostfile hosts".
set -eu

ranks=$1 meet=$2
shift 2
NARROWS_GROUP_TOKEN=${NARROWS_GROUP_TOKEN:-$(head -c 24 /dev/urandom | base64)}
export NARROWS_GROUP_TOKEN
# shellcheck disable=SC2086
exec mpirun ${MPIRUN:-} -x NARROWS_GROUP_TOKEN -n "$ranks" "${NARROWS:-narrows}" run "$@" --group --meet "$meet"
