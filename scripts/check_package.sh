#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the built package without installing it: its files, its program, its unit, its manual and its completions.
# test_packages.sh installs it; that takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

package=$(echo .build/deb/postrider-worker_*.deb)
[[ -f $package ]] || { echo 'check_package: no package; run make deb' >&2; exit 64; }
root=$PWD/.build/deb/root
rm -rf "$root"
dpkg-deb --extract "$package" "$root"

source scripts/checks.sh

files() {
    diff - <(dpkg-deb --contents "$package" | awk '$1 !~ /^d/ && $6 !~ /\/share\/doc\// { print $1, $2, substr($6, 2) }' | sort -k3) <<'END'
-rw-r--r-- root/root /lib/systemd/system/postrider-worker.service
-rwxr-xr-x root/root /usr/bin/worker
-rw-r--r-- root/root /usr/lib/sysusers.d/postrider-worker.conf
-rw-r--r-- root/root /usr/share/bash-completion/completions/worker
-rw-r--r-- root/root /usr/share/fish/vendor_completions.d/worker.fish
-rw-r--r-- root/root /usr/share/man/man1/worker.1.gz
-rw-r--r-- root/root /usr/share/postrider-worker/worker.env
-rw-r--r-- root/root /usr/share/zsh/vendor-completions/_worker
END
}

program_runs() {
    local version
    version=$("$root/usr/bin/worker" --version)
    [[ $version == "worker $(dpkg-deb --field "$package" Version)" ]] && "$root/usr/bin/worker" help >/dev/null
}

# Each library that the program needs stands in the Dockerfile too, by the name of its package.
libraries_are_in_image() {
    local image name missing=0
    image=$(sed -n '/^FROM .* AS worker$/,$p' Dockerfile)
    for name in $(dpkg-deb --field "$package" Depends | tr ',' '\n' | awk '$1 ~ /^lib/ { print $1 }'); do
        case $name in libc6 | libgcc-s1 | libstdc++6) continue ;; esac
        grep -qE "(^|[ \\])$name( |$)" <<<"$image" || { echo "Dockerfile: $name is missing"; missing=1; }
    done
    return $missing
}

# The unit with the extracted program, since ExecStart must exist.
unit=$root/postrider-worker.service
unit_is_valid() {
    local output
    sed "s|^ExecStart=/usr/bin/worker|ExecStart=$root/usr/bin/worker|" ops/systemd/postrider-worker.service >"$unit"
    output=$(systemd-analyze verify --man=no "$unit" 2>&1)
    [[ -z $output ]] || { echo "$output"; return 1; }
}

# The exposure is at most 1.5 of 10; systemd calls less than 2 OK.
unit_is_hardened() { systemd-analyze security --offline=true --threshold=15 --no-pager "$unit"; }

sysusers_is_valid() { systemd-sysusers --dry-run "$root/usr/lib/sysusers.d/postrider-worker.conf" 2>&1 | grep postrider; }

manual_is_valid() {
    local output
    output=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -Tutf8 -Z -l "$root/usr/share/man/man1/worker.1.gz" 2>&1 >/dev/null)
    [[ -z $output ]] || { echo "$output"; return 1; }
}

completions_parse() {
    bash -n "$root/usr/share/bash-completion/completions/worker"
    if command -v zsh >/dev/null; then zsh -n "$root/usr/share/zsh/vendor-completions/_worker"; fi
    if command -v fish >/dev/null; then fish --no-execute "$root/usr/share/fish/vendor_completions.d/worker.fish"; fi
}

check 'files and modes' files
check 'the program runs' program_runs
check 'libraries of the image' libraries_are_in_image
check 'systemd-analyze verify' unit_is_valid
check 'systemd-analyze security' unit_is_hardened
check 'sysusers' sysusers_is_valid
check 'manual page' manual_is_valid
check 'completions' completions_parse
exit $failed
