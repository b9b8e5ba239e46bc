#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the package in a clean Debian, builds the image's tree in another one, and runs jobs in both. As root.
#
#     test_packages.sh WORKER
#
# debootstrap makes the clean system below /var/tmp, and systemd-nspawn boots it. PostgreSQL and an API run outside of it, on loopback.
set -euo pipefail
cd "$(dirname "$0")/.."
# In a mount namespace, so that no mount outlives this script.
if [[ ${1-} != --inside ]]; then exec unshare --mount "$0" --inside "$@"; fi
worker=$PWD/${2:?usage: scripts/test_packages.sh WORKER}
package=$(echo .build/deb/postrider-worker_*.deb)
python=$PWD/.postrider/venv/bin/python
unset "${!PG@}" "${!POSTRIDER@}" DATABASE_URL

scratch=$(mktemp -d /var/tmp/postrider-packages.XXXXXX)
chmod 755 "$scratch"
children=()
finish() {
    local code=$?
    trap - EXIT
    # PostgreSQL ends its sessions after INT; the others ignore it in the background.
    for child in "${children[@]}"; do kill -INT "$child" 2>/dev/null || true; done
    for child in "${children[@]}"; do kill -TERM "$child" 2>/dev/null || true; done
    for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
    umount "$scratch/image" "$scratch/image/proc" 2>/dev/null || true
    if ((code != 0)); then tail -n 20 "$scratch"/*.log "$scratch"/clean/*.log >&2 || true; fi
    rm -rf --one-file-system "$scratch"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
die() { echo "test_packages: $*" >&2; exit 1; }
free_port() { PYTHONPATH=scripts "$python" -B -c 'import run_page; print(run_page.free_port())'; }
# until_done SECONDS WHAT COMMAND...: repeats the command until it succeeds.
until_done() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || die "not in time: $what"
        sleep 0.2
    done
}
# inside COMMAND...: runs a command as root in the clean system, with /proc and a clean environment.
inside() {
    unshare --mount /bin/sh -c 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' "$scratch/clean" \
        /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}

say '1. PostgreSQL and an API on loopback'
programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
port=$(free_port)
install -d -o postgres "$scratch/postgresql"
as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups --pdeathsig INT)
(cd / && "${as_postgres[@]}" "$programs/initdb" -D "$scratch/postgresql/data" -U postgres --auth=trust --encoding=UTF8 --no-sync) \
    >"$scratch/initdb.log"
(cd / && exec "${as_postgres[@]}" "$programs/postgres" -D "$scratch/postgresql/data" -c port="$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c fsync=off) >"$scratch/postgresql.log" 2>&1 &
children+=($!)
until_done 60 PostgreSQL "$programs/pg_isready" -q -h 127.0.0.1 -p "$port"
owner=postgresql://postgres@127.0.0.1:$port/postgres
login=postgresql://shop_worker@127.0.0.1:$port/postgres
query() { "$programs/psql" -X -q -v ON_ERROR_STOP=1 -At "$owner" -c "$1"; }
api=$(free_port)
"$python" -B - "$api" >"$scratch/api.log" 2>&1 <<'END' &
import http.server, sys, time

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(6)
        self.send_response(204)
        self.end_headers()

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
END
children+=($!)

say '2. A clean Debian'
mirror=http://deb.debian.org
debootstrap --variant=minbase bookworm "$scratch/base" "$mirror/debian" >"$scratch/debootstrap.log"
cat >"$scratch/base/etc/apt/sources.list" <<END
deb $mirror/debian bookworm main
deb $mirror/debian bookworm-updates main
deb $mirror/debian-security bookworm-security main
END
cp /etc/resolv.conf "$scratch/base/etc/resolv.conf"
cp -a "$scratch/base" "$scratch/clean"
cp -a "$scratch/base" "$scratch/image"

say "3. The package $package"
clean=$scratch/clean
cp "$package" "$clean/root/worker.deb"
{ inside apt-get update && inside apt-get install -y --no-install-recommends /root/worker.deb; } >"$scratch/install.log" 2>&1
# Also without /proc.
chroot "$clean" worker --version
inside worker migrate --database "$owner" | tail -1
query "create role shop_worker login; grant postrider_worker to shop_worker"
[[ $(inside stat -c '%a %U %G' /etc/postrider/worker.env) == '640 root postrider' ]] || die 'mode or owner of worker.env'
printf '%s\n' "POSTRIDER_DATABASE=$login" POSTRIDER_ALLOW_PRIVATE=on >>"$clean/etc/postrider/worker.env"
mkdir -p "$clean/etc/systemd/system/postrider-worker.service.d"
printf '[Service]\nWatchdogSec=4\nTimeoutStopSec=2\n' >"$clean/etc/systemd/system/postrider-worker.service.d/times.conf"
cp scripts/service_check.sh "$clean/usr/local/bin/service_check"
cat >"$clean/etc/systemd/system/service-check.service" <<END
[Service]
Type=oneshot
ExecStart=/usr/local/bin/service_check $owner http://127.0.0.1:$api
StandardOutput=file:/service_check.log
StandardError=inherit
ExecStopPost=/bin/systemctl poweroff --force
END
timeout 300 systemd-nspawn --quiet --directory "$clean" --boot --register=no --keep-unit systemd.unit=service-check.service \
    </dev/null >"$scratch/boot.log" 2>&1 || true
cat "$clean/service_check.log"
grep -qx 'all checks passed' "$clean/service_check.log" || die 'the service failed a check'
inside apt-get purge -y postrider-worker >>"$scratch/install.log" 2>&1
[[ ! -e $clean/etc/postrider && ! -e $clean/usr/bin/worker ]] || die 'the purge left files'

say '4. The tree of the image'
image=$scratch/image
mount -t proc proc "$image/proc"
variables=$("$python" -B scripts/image_root.py worker "$image" "build:/worker=$worker" 2>"$scratch/image.log")
eval "$variables"
umount "$image/proc"
# As Kubernetes does with readOnlyRootFilesystem.
mount --bind "$image" "$image"
mount -o remount,ro,bind "$image"
# run_image COMMAND...: runs a command as the image's user with the image's environment.
http=127.0.0.1:$(free_port)
run_image() {
    exec chroot --userspec="${user[0]}" "$image" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin "${environment[@]}" \
        POSTRIDER_HTTP="$http" POSTRIDER_ALLOW_PRIVATE=on POSTRIDER_DATABASE="$login" "$@"
}
(run_image "${entrypoint[@]}" --version)
query "insert into postrider.jobs (tag, url) values ('image', 'http://127.0.0.1:$api/')"
run_image "${entrypoint[@]}" "${cmd[@]}" 2>"$scratch/run.log" &
main=$!
children+=("$main")
health() { (run_image "${healthcheck[@]}"); }
until_done 30 'the health check' health
done_sql="select 1 / (state = 'succeeded')::int from postrider.job_status where tag = 'image'"
until_done 30 'the job of the image' query "$done_sql"
kill -TERM "$main"
wait "$main" || die "the worker of the image ended with $?"
if health 2>/dev/null; then die 'the health check succeeds without a worker'; fi
echo "health check and job succeeded; the image adds $(($(du -sm "$image" | cut -f1) - $(du -sm "$scratch/base" | cut -f1))) MB to its base"
