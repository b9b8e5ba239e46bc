#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes scripts/test_seconds.txt, by which scripts/test.sh shares the test targets: scripts/time_tests.sh PROGRAM
#
# Runs each target alone, which takes about half an hour. The times in reports of swift test do not tell: all tests of a
# process count from its start.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for target in $("$program" --testing-library swift-testing --list-tests | sed 's/\..*//' | sort -u); do
    began=$SECONDS
    "$program" --testing-library swift-testing --filter "^$target\\." </dev/null >/dev/null
    echo "$((SECONDS - began)) $target" | tee -a "$list"
done
{
    echo '# SECONDS TARGET: how long the tests of a target take in a process of their own (scripts/time_tests.sh)'
    sort -rn "$list"
} >scripts/test_seconds.txt
