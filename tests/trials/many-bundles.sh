#!/bin/sh
# Makes an archive of many bundles of simulated checks and measures, on it, what reads all of them: time and peak memory of
# list, compare and rank. Ten targets of one check each, copied under new ids; half of the runs are side a, half side b.
#
#   tests/trials/many-bundles.sh NARROWS DIR [COUNT]      DIR must not exist; 10,000 bundles of a check take 1.6 GB
set -eu
narrows=$1 archive=$2 count=${3:-10000}
mkdir "$archive"
sims="a1-card a2-card-no-queue class4-card emmc nvme sata-ssd"
seed=0
while [ $seed -lt 10 ]; do
    set -- $sims
    shift $((seed % $#))
    "$narrows" check "sim:$1" --seed $seed --archive "$archive/made" >/dev/null
    seed=$((seed + 1))
done
mkdir "$archive/runs"
echo '[tags]' > "$archive/tags.toml"
all= a= b= number=0
while [ $number -lt "$count" ]; do
    for made in "$archive"/made/runs/*; do
        [ $number -lt "$count" ] || break
        # A second each, from the first of January 2026 on; the last digits are the number.
        id=$(printf '202601%02dT%02d%02d%02dZ-%08x' $((1 + number / 86400)) $((number / 3600 % 24)) $((number / 60 % 60)) \
            $((number % 60)) $number)
        mkdir "$archive/runs/$id"
        cp -l "$made/latency.csv" "$made/series.csv" "$made/system.csv" "$made/order" "$archive/runs/$id"
        sed "s/\"id\": \"${made##*/}\"/\"id\": \"$id\"/; s/\"name\": \"sim:/&$((number % 10))-/" "$made/run.json" \
            > "$archive/runs/$id/run.json"
        (cd "$archive/runs/$id" && sha256sum latency.csv order run.json series.csv system.csv > SHA256SUMS)
        all="$all\"$id\","
        if [ $((number / 10 % 2)) -eq 0 ]; then a="$a\"$id\","; else b="$b\"$id\","; fi
        number=$((number + 1))
    done
done
printf 'all = [%s]\na = [%s]\nb = [%s]\n' "$all" "$a" "$b" >> "$archive/tags.toml"
measured() {
    /usr/bin/time -f "%e s, %U s of CPU, %M KiB: narrows $*" "$narrows" "$@" --archive "$archive" > "$archive/said" 2> "$archive/time"
    tail -n 1 "$archive/time"
}
measured runs verify "$id"
measured runs list
measured runs list
measured compare a b
measured rank all
