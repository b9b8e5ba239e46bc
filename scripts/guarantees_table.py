# SPDX-License-Identifier: Apache-2.0
"""Writes the table of attacks in docs/guarantees.md from a report of the long tests: guarantees_table.py [FOLDER]

FOLDER is the value of POSTRIDER_REPORTS in that test run, by default .build/soak-report. Each line of its rounds.jsonl
is one round of a test (Tests/TestSupport/AttackReport.swift). Rounds of one attack become one row.
POSTRIDER_SOAK_SECONDS, if it was set for that run, must be set here too: the page names it.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys

import generated_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guarantees.md"


def number(value):
    return f"{value:,}"


def rows(lines):
    """The rows of the table, in the order of the promises in the list of Swift."""
    sums = {}
    for line in lines:
        row = sums.setdefault((line["promise"], line["attack"]), {"repeats": {}})
        for name in ("rounds", "jobs", "calls", "lost", "stale"):
            row[name] = row.get(name, 0) + line[name]
        for reason, count in line["repeats"].items():
            row["repeats"][reason] = row["repeats"].get(reason, 0) + count
    source = (ROOT / "Tests/TestSupport/AttackReport.swift").read_text()
    order = sorted(sums, key=lambda key: (source.index(f'"{key[0]}"'), key[1]))
    for key in order:
        row = sums[key]
        repeats = sorted(row["repeats"].items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{reason} {number(count)}" for reason, count in repeats) or "none"
        yield [*key, *(number(row[name]) for name in ("rounds", "jobs", "calls", "lost", "stale")), reasons]


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / ".build/soak-report")
    report = folder / "rounds.jsonl"
    if not report.exists():
        sys.exit(f"{report} does not exist; run: make soak")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    kinds = {line["is_soak"] for line in lines}
    if len(kinds) != 1:
        sys.exit(f"{report} mixes long and short rounds; delete it and run the tests again")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    day = datetime.date.fromtimestamp(report.stat().st_mtime).isoformat()
    command = "the rounds of `make soak`" if kinds == {True} else "the short rounds of `make test`"
    seconds = os.environ.get("POSTRIDER_SOAK_SECONDS")
    if seconds and kinds == {True}:
        command += f" (the attack on other clients for {int(seconds):,} s instead of an hour)"
    table = generated_table.lines(
        ["promise", "attack", "rounds", "jobs", "calls", "lost", "stale", "repeated attempts, by reason"], rows(lines))
    generated_table.write(PAGE, "attacks", f"From {command}, {day}, commit {commit}.\n\n{table}")


if __name__ == "__main__":
    main()
