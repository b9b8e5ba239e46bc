#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the unit tests with sanitizers: scripts/sanitize.sh address|thread
#
# address: bad accesses to memory in Swift and C. Of C code also leaks and undefined behaviour (clang's UBSan).
# thread: data races and leaked threads in Swift and C.
#
# On Linux, swiftc refuses -sanitize=undefined. Swift itself traps where C has undefined behaviour.
# One build has both, because the runtime of the address sanitizer contains the runtime of UBSan.
#
# Each kind has its own build folder. SWIFT is the command of the package manager, as a shell would read it.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=$1
# The default linker, gold, warns about each exported symbol of the sanitizer.
options=(--scratch-path ".build/$kind" --sanitize "$kind" -Xswiftc -use-ld=lld)
if [[ $kind == address ]]; then options+=(-Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined); fi
# Integration tests are left out: they need minutes each.
POSTRIDER_UNIT_TESTS=1 eval "${SWIFT:-swift}" build --build-tests '"${options[@]}"'

# The tests and the programs that they start write their reports into this folder.
findings=$PWD/.build/$kind-findings
rm -rf "$findings"
mkdir -p "$findings"
export ASAN_OPTIONS=log_path=$findings/report UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/Tests/Sanitizers/leaks.supp:print_suppressions=0
export TSAN_OPTIONS=halt_on_error=0:suppressions=$PWD/Tests/Sanitizers/threads.supp:log_path=$findings/report
export POSTRIDER_SANITIZER=$kind SWIFT_BACKTRACE=enable=no

status=0
".build/$kind/debug/postriderPackageTests.xctest" --testing-library swift-testing || status=$?
for report in "$findings"/*; do
    [[ -s $report ]] || continue
    cat "$report"
    status=1
done
exit $status
