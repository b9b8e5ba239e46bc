#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages for the build, the tests and the demo. Does nothing if all are installed.
# setup.sh --without-browser leaves out the packages that only some tests need, about 1.1 GB:
# - a browser for the dashboard, Prometheus for metrics and alerts
# - Go and Ruby for the examples of docs/recipes/from-code.md
# - zsh and fish for completions
#
# setup.sh --for-packages installs the packages that build and check the Debian package, as root.
# setup.sh --for-ha installs the packages of `make ha`, as root.
set -euo pipefail
cd "$(dirname "$0")/.."

without_browser=no
for_packages=no
for_ha=no
case ${1-} in
'') ;;
--without-browser) without_browser=yes ;;
--for-packages) without_browser=yes for_packages=yes ;;
--for-ha) without_browser=yes for_ha=yes ;;
*)
    echo "setup: $1 is not known; there are --without-browser, --for-packages and --for-ha" >&2
    exit 64
    ;;
esac

say() { echo "setup: $*" >&2; }

check_swift() {
    local version
    if ! version=$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9]+\.[0-9]+' | head -1); then
        say "swift is not in PATH; install Swift 6.2 or newer: https://www.swift.org/install/linux"
        exit 1
    fi
    version=${version##* }
    if ((${version%%.*} * 100 + ${version##*.} < 602)); then
        say "Swift $version is too old; install 6.2 or newer: https://www.swift.org/install/linux"
        exit 1
    fi
}

# Prints the missing packages. The server may come from any source. It needs an initdb of version 15 or newer in
# Debian's folder.
missing_packages() {
    local package server=no directory newest=
    for directory in /usr/lib/postgresql/*/bin; do
        local major=${directory%/bin}
        if [[ -x $directory/initdb && ${major##*/} -ge 15 ]]; then server=yes newest=${major##*/}; fi
    done
    [[ $server == yes ]] || echo postgresql
    local -a for_some_tests=(chromium chromium-driver golang-go golang-github-lib-pq-dev ruby-pg ruby-activerecord zsh fish groff-base man-db
        prometheus)
    # Only one package of a distribution provides postgresql-pgtap. A server that was built from source gets none.
    if [[ $server == no ]]; then
        for_some_tests+=(postgresql-pgtap)
    elif dpkg-query -W "postgresql-$newest" >/dev/null 2>&1; then
        for_some_tests+=("postgresql-$newest-pgtap")
    fi
    # Without root they are not asked for. Tests and examples that need a missing one are then skipped.
    if [[ $without_browser == yes ]] || ((EUID != 0)); then for_some_tests=(); fi
    if [[ $for_packages == yes ]]; then for_some_tests=(debhelper lintian man-db systemd debootstrap systemd-container); fi
    if [[ $for_ha == yes ]]; then for_some_tests=(patroni etcd-server haproxy); fi
    for package in "${for_some_tests[@]}" libpq-dev libcurl4-openssl-dev libxml2-dev libyaml-dev libssl-dev libsodium-dev libmicrohttpd-dev zlib1g-dev nginx-light libnginx-mod-http-echo \
        pgbouncer tinyproxy-bin microsocks python3-venv pkg-config openssl gcc make ca-certificates; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

# Debian starts a service when its package is installed. policy-rc.d forbids that during the installation.
# An existing policy is put back afterwards.
POLICY=/usr/sbin/policy-rc.d
forbid_service_starts() {
    if [[ -x $POLICY ]]; then
        local code=0
        "$POLICY" nginx start >/dev/null 2>&1 || code=$?
        if ((code == 101)); then return; fi
    fi
    if [[ -e $POLICY ]]; then mv "$POLICY" "$POLICY.before-postrider"; fi
    trap restore_policy EXIT
    printf '#!/bin/sh\nexit 101\n' >"$POLICY"
    chmod 755 "$POLICY"
}

restore_policy() {
    rm -f "$POLICY"
    if [[ -e $POLICY.before-postrider ]]; then mv "$POLICY.before-postrider" "$POLICY"; fi
}

install_packages() {
    local -a missing
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then return; fi
    if ((EUID != 0)); then
        say "these Debian packages are missing: ${missing[*]}"
        say "install them as root: apt-get install --no-install-recommends ${missing[*]}"
        exit 1
    fi
    say "installing ${missing[*]}"
    forbid_service_starts
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# The stamp includes the directory, because a virtual environment does not work after a move.
make_venv() {
    local venv=.postrider/venv stamp
    stamp="$PWD $(sha256sum <scripts/requirements.txt)"
    if [[ -f $venv/stamp && $(<"$venv/stamp") == "$stamp" ]]; then return; fi
    say "making $venv"
    mkdir -p .postrider
    /usr/bin/python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check -r scripts/requirements.txt
    echo "$stamp" >"$venv/stamp"
}

check_swift
if [[ $without_browser == no ]] && ((EUID != 0)) && [[ ! -x /usr/bin/chromedriver ]]; then
    say 'chromium and chromium-driver are not installed: tests of the dashboard in a browser will be skipped'
fi
if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian or a relative of it; docker compose up works everywhere"
    exit 1
fi
install_packages
make_venv
