#!/usr/bin/env bash
# Installs a wheel on a bare Debian, runs the demo there, and says how long it took and how large it is. Needs root,
# debootstrap, and a network for Debian's packages and PyPI.
#
#   contrib/wheels/bare.sh SUITE WHEEL [FOLDER]        SUITE: bookworm, trixie; FOLDER is kept for the next time
#
# Bare: python3 with pip and venv, nothing else: no compiler, no cargo, no make. The clock runs from the first
# command that a user types (making the virtual environment) to the end of `netloom demo`.
set -euo pipefail
(($# >= 2)) || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
suite=$1 wheel=$(realpath "$2")
folder=${3:-$(mktemp -d "/var/tmp/netloom-$suite.XXXXXX")}
seconds=60 megabytes=300

if [ ! -x "$folder/usr/bin/python3" ]; then
    debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates "$suite" "$folder" >&2
fi
mkdir -p "$folder/tmp/wheels"
cp "$wheel" "$folder/tmp/wheels"
cp /etc/resolv.conf "$folder/etc/resolv.conf"
# Where this machine reaches PyPI by a certificate or an index of its own, so does the other.
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
[ ! -e /etc/hosts ] || cp /etc/hosts "$folder/etc/hosts"
for config in /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [ ! -e "$config" ] || cat "$config"
done >"$folder/etc/pip.conf"
mountpoint -q "$folder/proc" || mount -t proc proc "$folder/proc"
trap 'umount "$folder/proc"' EXIT

inside() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 ${proxies[@]+"${proxies[@]}"} chroot "$folder" "$@"; }
proxies=()
while IFS= read -r line; do proxies+=("$line"); done < <(env | grep -iE '^(https?|no|all)_proxy=' || true)

for tool in cc gcc cargo rustc make; do
    ! inside sh -c "command -v $tool" >/dev/null || { echo "bare.sh: error: $tool is there: not bare" >&2; exit 1; }
done
inside rm -rf /opt/netloom /root/demo-output

# What is timed is in a process of its own, whose CPU time is told too: on a busy machine the clock says little.
(
    start=$(date +%s.%N)
    inside python3 -m venv /opt/netloom
    du -sk "$folder/opt/netloom" | cut -f1 >"$folder/tmp/empty"
    inside /opt/netloom/bin/pip install --quiet --disable-pip-version-check "/tmp/wheels/$(basename "$wheel")"
    installed=$(date +%s.%N)
    inside sh -c 'cd /root && /opt/netloom/bin/netloom demo'
    end=$(date +%s.%N)
    echo "$start $installed $end" >"$folder/tmp/clock"
    times >"$folder/tmp/times"
)
read -r start installed end <"$folder/tmp/clock"
empty=$(<"$folder/tmp/empty")

inside /opt/netloom/bin/netloom --version
du -sm "$folder"/opt/netloom/lib/python3*/site-packages/* | sort -rn | sed -n 1,12p
whole=$(du -sk "$folder/opt/netloom" | cut -f1)
awk -v a="$start" -v b="$installed" -v c="$end" -v whole="$whole" -v empty="$empty" -v suite="$suite" -v most="$seconds" -v mb="$megabytes" -F '[ms ]' 'NR == 2 {
    cpu = 60 * ($1 + $4) + $2 + $5
    printf "%s: installed after %.1f s, demo done after %.1f s (wanted: %d); %.1f s of CPU\n", suite, b - a, c - a, most, cpu
    printf "%s: %.0f MB with the virtual environment, %.0f MB of it netloom and what it needs (wanted: %d)\n", suite, whole / 1024, (whole - empty) / 1024, mb
    exit !(c - a <= most && whole / 1024 <= mb)
}' "$folder/tmp/times"
