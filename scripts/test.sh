#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the built tests in several processes at once: scripts/test.sh PROGRAM [PATTERN...]
#
# Each PATTERN of test names gets a process. Without a pattern, two processes share the test targets so that both take
# about the same time, by the seconds in scripts/test_seconds.txt.
# With three processes on two cores, a test that bounds the time of a call or page failed in two of three runs.
#
# With ONLY=TOPIC in the environment, one process runs the targets and suites with TOPIC in their names.
# A process runs as many tests at once as there are cores, because a test mostly waits.
set -euo pipefail
cd "$(dirname "$0")/.."

# swift test calls the program in the same way. Two runs of swift test at once would write the same files.
tests=("$1" --testing-library swift-testing)
shift
reports=${REPORTS:-.build/test-reports}
rm -rf "$reports"
mkdir -p "$reports"

# Each process gets its own process group, so that the end of this script also ends the programs of its tests.
set -m
processes=()
run() {
    local report=$reports/$((${#processes[@]} + 1)).xml
    # A process that crashes writes no report. The empty file then counts as a failure.
    : >"$report"
    "${tests[@]}" --xunit-output "$report" "$@" </dev/null &
    processes+=($!)
}
trap 'for process in "${processes[@]}"; do kill -TERM -- "-$process" 2>/dev/null; done' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [[ -n ${ONLY-} ]]; then
    run --filter "^(\\w*(?i:$ONLY)\\w*\\.|\\w+\\.\\w*(?i:$ONLY)\\w*(/|$))"
elif (($# > 0)); then
    for pattern; do run --filter "$pattern"; done
else
    # The longest target first, each to the process with less to do. The second process also takes targets not listed.
    first=$(grep -v '^#' scripts/test_seconds.txt | sort -rn | awk '
        { process = sum[1] <= sum[2] ? 1 : 2; sum[process] += $1; if (process == 1) names = names "|" $2 }
        END { print substr(names, 2) }')
    run --filter "^($first)\\."
    run --skip "^($first)\\."
fi

failed=0
for place in "${!processes[@]}"; do
    status=0
    wait "${processes[place]}" || status=$?
    # 1: a test has failed, which the process has said. A signal gives 128 and its number.
    if ((status > 1)); then echo "test process $((place + 1)) ended with status $status" >&2; fi
    if ((status > 0)); then failed=1; fi
done
trap - EXIT
exit $failed
