#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes .postrider/bench-venv and builds the floor programs, then runs the benchmark: bench/run.sh [SCENARIO] [OPTIONS]
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.postrider/bench-venv
# The stamp includes the directory, because a virtual environment does not work after a move.
stamp="$PWD $(sha256sum <bench/requirements.txt)"
if [[ ! -f $venv/stamp || $(<"$venv/stamp") != "$stamp" ]]; then
    /usr/bin/python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
    echo "$stamp" >"$venv/stamp"
fi

programs=.postrider/bench
mkdir -p "$programs"
# shellcheck disable=SC2046
gcc -O2 -Wall -Wextra -Werror $(pkg-config --cflags libpq libcurl) -o "$programs/floor_worker" \
    bench/floor/floor_worker.c $(pkg-config --libs libpq libcurl)
gcc -O2 -Wall -Wextra -Werror -o "$programs/stamp_target" bench/target/stamp_target.c

exec "$venv/bin/python" -B bench/main.py "$@"
