#!/usr/bin/env bash
# The model of what dpkg does beside the machine's own dpkg, which is recorded while it installs, removes and installs again the same packages; that
# dpkg touches nothing of the machine; and that what it made is gone, also after a kill. Needs dpkg; NARROWS is the binary.
set -euo pipefail
. "$(dirname "$0")/../preamble"

scratch=$(mktemp -d)
export NARROWS_ARCHIVE=$scratch/archive

clean_up() {
    rm -rf "$scratch"
}
trap clean_up EXIT

needs dpkg dpkg-deb
mkdir "$scratch/target"
few=(--set package-count=60 --set packages-removed=20)
state() { cat /var/lib/dpkg/status /var/log/dpkg.log 2>/dev/null | sha256sum; }
before=$(state)

"$narrows" trace -o "$scratch/dpkg.trace" -- "$narrows" run packages "$scratch/target" --real "${few[@]}" --json \
    >"$scratch/answer" 2>"$scratch/err" || [[ $? -eq 4 ]] || fail "the run of dpkg"
[[ $(state) == "$before" ]] || fail "what dpkg knows of this machine has changed"
[[ -z $(ls -A "$scratch/target") ]] || fail "something is left"
for phase in install remove reinstall; do
    # Refused where somebody else used the disk meanwhile; the number is there all the same.
    sed -n "/\"id\": \"$phase.time_s\"/,/\"bound\"/p" "$scratch/answer" >"$scratch/time"
    grep -qE '"(value|rejected_value)": [0-9]' "$scratch/time" || fail "$phase has no time"
done

# All calls of the three parts below dpkg's root, by kind.
root=$(sed -n 's|.*\(/proc/[0-9]*/fd/[0-9]*/dpkg-root\).*|\1|p; T; q' "$scratch/dpkg.trace")
[[ -n $root ]] || fail "dpkg's root is not in the recording"
calls() {
    "$narrows" run "$@" --plan --json 2>"$scratch/err" >"$scratch/answer" || fail "the plan of $1"
    tr -d '\n ' <"$scratch/answer" | grep -o '"replay_calls":{[^}]*}' | tr '{},' '\n\n\n' | grep '":[0-9]' | tr -d '"' |
        awk -F: '{ n[$1] += $2 } END { for (kind in n) print kind, n[kind] }'
}
calls "$scratch/dpkg.trace" "$scratch/target" --set root="$root" --set outside=skip --set speed=max >"$scratch/real"
calls packages "$scratch/target" "${few[@]}" --set speed=max >"$scratch/model"
# One by one within 10 %; renames of downloads and what is written by them are of apt, which is not here.
awk -v packages=60 '
    FNR == NR { real[$1] = $2; next }
    { model[$1] = $2 }
    END {
        model["rename"] -= packages
        for (kind in real) {
            if (kind !~ /^(fsync|sync-range|rename|truncate|symlink|unlink|rmdir|write|chown|utimes)$/) continue
            off = model[kind] / real[kind] - 1
            printf "%-10s %6d of dpkg, %6d of the model: %+.1f %%\n", kind, real[kind], model[kind], 100 * off
            if (off > 0.1 || off < -0.1) bad = bad " " kind
            seen++
        }
        if (seen < 9) bad = bad " (only " seen " kinds)"
        if (bad) { print "apart:" bad; exit 1 }
    }' "$scratch/real" "$scratch/model" || fail "the model is not like dpkg"

# Archives that somebody hands over: a link that leads out of the root, a file behind it, and a script.
mkdir -p "$scratch/mine" "$scratch/debs" "$scratch/a/DEBIAN" "$scratch/a/opt" "$scratch/b/DEBIAN" "$scratch/b/opt/out"
ln -s "$scratch/mine" "$scratch/a/opt/out"
echo theirs >"$scratch/b/opt/out/file"
for package in a b; do
    printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: x\n' "their-$package" >"$scratch/$package/DEBIAN/control"
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$scratch/mine" >"$scratch/$package/DEBIAN/postinst"
    chmod 755 "$scratch/$package/DEBIAN/postinst"
    dpkg-deb --build "$scratch/$package" "$scratch/debs/$package.deb" >/dev/null
done
"$narrows" run packages "$scratch/target" --real="$scratch/debs" --set packages-removed=1 >"$scratch/answer" 2>"$scratch/err" || true
grep -q 'by dpkg' "$scratch/answer" "$scratch/err" || grep -q 'dpkg ended' "$scratch/answer" "$scratch/err" || fail "dpkg was not started with archives that are named"
[[ -z $(ls -A "$scratch/mine") ]] || fail "an archive wrote outside of dpkg's root"
[[ -z $(ls -A "$scratch/target") ]] || fail "something of named archives is left"

# Killed in the middle: the next run removes what is left.
"$narrows" run packages "$scratch/target" --real "${few[@]}" >/dev/null 2>&1 &
victim=$!
for _ in $(seq 100); do
    [[ -d $(echo "$scratch"/target/.narrows-files-*/dpkg-root/usr) ]] && break
    sleep 0.1
done
kill -9 "$victim"
wait "$victim" 2>/dev/null || true
[[ -n $(ls -A "$scratch/target") ]] || fail "it was not killed in the middle"
"$narrows" run packages "$scratch/target" --set speed=max --set package-count=5 --set packages-removed=2 >"$scratch/answer" 2>"$scratch/err" ||
    [[ $? -eq 4 ]] || fail "the model after a kill"
[[ -z $(ls -A "$scratch/target") ]] || fail "what the killed run made is still there"
echo "the model of packages is like dpkg, and nothing of either is left"
