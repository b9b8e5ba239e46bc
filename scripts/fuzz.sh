#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the parsers of outside bytes: scripts/fuzz.sh PROGRAM WORKER [TARGET...]
#
# PROGRAM is libFuzzer with the targets of Tests/Fuzz. Each target runs for FUZZ_SECONDS, 600 by default. The target sql
# mutates arguments of SQL functions on a private PostgreSQL. New inputs stay in .build/fuzz-corpus. With FUZZ_KEEP=1 those
# that reach new code are added to Tests/Fuzz/Corpus at the end. An input of a finding is in .build/fuzz-findings.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1 worker=$2
shift 2
seconds=${FUZZ_SECONDS:-600}
# Without a target the program prints their names and ends, which libFuzzer would record as a finding in this folder.
known=$(FUZZ_TARGET='' "$program" -exact_artifact_path=/dev/null 2>/dev/null </dev/null | grep -oP '(?<=one of ).*' || true)
# shellcheck disable=SC2206
targets=("$@")
((${#targets[@]})) || read -ra targets <<<"$known sql"

# Swift's own report of a crash would ask a terminal. Leaks of the Swift runtime at the end are no findings.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
failed=()
for target in "${targets[@]}"; do
    if [[ $target == sql ]]; then
        echo "fuzz: sql for $seconds s"
        .postrider/venv/bin/python scripts/fuzz_sql.py "$worker" --seconds "$seconds" || failed+=(sql)
        continue
    fi
    corpus=.build/fuzz-corpus/$target findings=.build/fuzz-findings/$target kept=Tests/Fuzz/Corpus/$target
    mkdir -p "$corpus" "$findings"
    echo "fuzz: $target for $seconds s"
    if ! FUZZ_TARGET=$target "$program" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$findings/" "$corpus" "$kept" >"$findings/log" 2>&1 </dev/null; then
        failed+=("$target")
        grep -aE 'FINDING|ERROR:|Fatal error' "$findings/log" | head -5 || tail -3 "$findings/log"
        input=$(grep -aoP '(?<=Test unit written to ).*' "$findings/log" | tail -1 || true)
        echo "reproduce: FUZZ_TARGET=$target $program $input"
        echo "then copy the input to $kept, so that the tests replay it"
    elif [[ ${FUZZ_KEEP-} == 1 ]]; then
        FUZZ_TARGET=$target "$program" -merge=1 -max_len=1024 "$kept" "$corpus" >"$findings/log" 2>&1 </dev/null
    fi
    grep -a 'stat::number_of_executed_units\|^Done ' "$findings/log" | tail -1 || true
done
if ((${#failed[@]})); then
    echo "fuzz: findings in ${failed[*]}"
    exit 1
fi
