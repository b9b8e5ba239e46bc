#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes .build/deb/postrider-worker_VERSION_ARCHITECTURE.deb of a built worker, and checks it with lintian.
#
#     build_deb.sh WORKER
#
# debhelper takes the files of ops/debian. It strips the program and reads from it which libraries the package needs.
set -euo pipefail
cd "$(dirname "$0")/.."
worker=$PWD/${1:?usage: scripts/build_deb.sh WORKER}

version=$("$worker" --version)
version=${version#worker }
tree=.build/deb/postrider-$version
rm -rf .build/deb
mkdir -p "$tree" "$tree"/man "$tree"/completions/{bash,zsh,fish}
cp -r ops/debian "$tree/debian"
cp ops/systemd/postrider-worker.service "$tree/debian/postrider-worker.service"
cp ops/systemd/worker.env README.md "$tree"
cp "$worker" "$tree/worker"

# The program writes its own manual and completions from its table of commands.
# generated FILE WORDS...: the output of the program. A program without that command gets a file with one line instead.
generated() {
    local file=$tree/$1
    shift
    "$worker" "$@" >"$file"
}
generated completions/bash/worker completions bash
generated completions/zsh/_worker completions zsh
generated completions/fish/worker.fish completions fish
generated man/worker.1 man
# The same commit gives the same package, byte for byte.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
cat >"$tree/debian/changelog" <<END
postrider ($version) unstable; urgency=medium

  * Version $version. The file CHANGELOG.md of the sources names its changes.

 -- The Postrider authors <postrider@example.com>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
mkdir "$tree/debian/source"
echo '3.0 (native)' >"$tree/debian/source/format"

log=.build/deb/build.log
if ! (cd "$tree" && DEB_BUILD_OPTIONS='noautodbgsym nocheck' dpkg-buildpackage --build=binary --no-sign) >"$log" 2>&1; then
    tail -30 "$log" >&2
    exit 1
fi
lintian --fail-on error,warning .build/deb/postrider_*.changes
ls .build/deb/*.deb
