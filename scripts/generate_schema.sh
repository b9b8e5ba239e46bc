#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes Tests/Fixtures/schema.sql from a new database that the worker has migrated: scripts/generate_schema.sh WORKER.
set -euo pipefail
cd "$(dirname "$0")/.."
worker=$1
# PGHOSTADDR overrides the host of a connection string, PGSERVICE adds to it.
unset "${!PG@}"

bin=${POSTRIDER_PG_BIN:-/usr/lib/postgresql/15/bin}
version=$("$bin/postgres" --version)
if [[ $version != *' 15.'* ]]; then
    echo "the fixture is written by PostgreSQL 15, and $bin is $version; set POSTRIDER_PG_BIN" >&2
    exit 1
fi

# As root, the server runs as the user postgres, which may not be able to enter this directory.
cluster=$(mktemp -d /var/tmp/postrider-schema-XXXXXX)
as_server=()
if ((EUID == 0)); then
    as_server=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    chown postgres "$cluster"
fi
finish() {
    "${as_server[@]}" "$bin/pg_ctl" -D "$cluster/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$cluster"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

(cd / && "${as_server[@]}" "$bin/initdb" -D "$cluster/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null &&
    "${as_server[@]}" "$bin/pg_ctl" -D "$cluster/data" -l "$cluster/log" -w \
        -o "-c fsync=off -c listen_addresses= -c unix_socket_directories=$cluster" start >/dev/null)
database="host=$cluster port=5432 user=postgres dbname=postgres"
"$worker" migrate --database "$database" >/dev/null
# Replaces the file in one step, so a failure leaves the old file.
.postrider/venv/bin/python scripts/dump_schema.py --bin "$bin" "$database" >"$cluster/schema.sql"
mkdir -p Tests/Fixtures
if ! cmp -s "$cluster/schema.sql" Tests/Fixtures/schema.sql; then cp "$cluster/schema.sql" Tests/Fixtures/schema.sql; fi
