#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that have been built, in two processes at once: scripts/test.sh PROGRAM [HALF OTHERS]. HALF and OTHERS are patterns of
# names; without OTHERS the second process runs all that the first does not.
# A test waits most of its time, and a process runs only as many at once as there are cores: one takes half as long again.
set -euo pipefail
cd "$(dirname "$0")/.."

# The program is called as swift test does it: two of those at once write the same files while they start.
tests=("$1" --testing-library swift-testing)
# What takes as long as all the others.
half=${2:-'IntegrationTests\.[A-P]'}
others=(--skip "$half")
if [[ -n ${3-} ]]; then others=(--filter "$3"); fi
reports=${REPORTS:-.build/test-reports}
rm -rf "$reports"
mkdir -p "$reports"

# A process group each, so that what ends this script ends them with all they have started.
set -m
"${tests[@]}" --xunit-output "$reports/half.xml" --filter "$half" </dev/null &
first=$!
"${tests[@]}" --xunit-output "$reports/others.xml" "${others[@]}" </dev/null &
second=$!
trap 'kill -TERM -- "-$first" "-$second" 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

failed=0
wait "$first" || failed=1
wait "$second" || failed=1
trap - EXIT
exit $failed
