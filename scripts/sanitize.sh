#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the unit tests with a sanitizer: scripts/sanitize.sh address|thread|undefined
#
# Each sanitizer has its own build folder. SWIFT is the command of the package manager.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizer=$1
read -ra swift <<<"${SWIFT:-swift}"
options=(--scratch-path ".build/$sanitizer" --sanitize "$sanitizer")
# An error of undefined behaviour ends the test process as well.
if [[ $sanitizer == undefined ]]; then options+=(-Xcc -fno-sanitize-recover=undefined); fi
# Integration tests are left out: their workers run in other processes, and they need minutes each.
POSTRIDER_UNIT_TESTS=1 "${swift[@]}" build --build-tests "${options[@]}"

targets='JobModel|CFiles|HTTPAgent|PGClient|XMLCheck|OpenAPI|WebhookSigning|SecretSealing|Reactor|Engine|Admin|Fuzz'
# The test runtime itself leaks a kilobyte. A report of TSan ends with code 66 only at the end of the process.
export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 SWIFT_BACKTRACE=enable=no
".build/$sanitizer/debug/postriderPackageTests.xctest" --testing-library swift-testing --filter "^(($targets)Tests|Simulation)\\."
