# SPDX-License-Identifier: Apache-2.0
"""The tables of the scenario `pages`: all addresses as text, and groups of them for the docs."""

import argparse
import statistics
import time
from pathlib import Path

from harness import marks

BEGIN = "<!-- figures: written by bench/run.sh pages --page -->"
END = "<!-- end of the figures of pages -->"
HEAD = f"{'first':>8} {'median':>8} {'max':>8} {'CPU':>8} {'KB':>6}"


def is_slow(row: dict[str, object], limit_ms: float) -> bool:
    """Whether an address has a median above the limit, or did not answer with 200."""
    return row["median_ms"] > limit_ms or row["status"] != 200


def text_line(row: dict[str, object], limit_ms: float) -> str:
    """One address; a star marks a slow one."""
    failure = f" ({row['status']})" if row["status"] != 200 else ""
    return (f"{row['first_ms']:8.1f} {row['median_ms']:8.1f} {row['max_ms']:8.1f} {row['cpu_ms']:8.1f}"
            f" {row['bytes'] / 1000:6.0f}"
            f" {'*' if is_slow(row, limit_ms) else ' '} {row['group']}: {row['page']}{failure}")


def write_table(
    page: Path, record: dict[str, object], machine: str, options: argparse.Namespace, limit_ms: float
) -> None:
    """Writes one line for each group between the two marks of the page, with the group's slowest address."""
    groups: dict[str, list[dict[str, object]]] = {}
    for row in record["rows"]:
        groups.setdefault(row["group"], []).append(row)
    lines = ["| pages | addresses | median ms | slowest address | its median ms | highest CPU ms | slowest request, ms |",
             "|---|---|---|---|---|---|---|"]
    for group, rows in groups.items():
        slowest = max(rows, key=lambda row: row["median_ms"])
        lines.append(
            f"| {group} | {len(rows)} | {statistics.median(row['median_ms'] for row in rows):.0f} |"
            f" `{slowest['page']}` | {slowest['median_ms']:.0f} | {max(row['cpu_ms'] for row in rows):.0f} |"
            f" {max(row['max_ms'] for row in rows):.0f} |")
    command = f"bench/run.sh pages --rounds {options.rounds} --jobs {options.jobs} --lanes {options.lanes}"
    conditions = ["| condition | value |", "|---|---|", f"| command | `{command}` |",
                  f"| day | {time.strftime('%-d %B %Y, %H:%M UTC', time.gmtime())} |", f"| machine | {machine} |",
                  f"| load average before the requests | {record['load']:.1f} |",
                  f"| database | {record['size_gb']:.1f} GB |",
                  f"| addresses above {limit_ms:.0f} ms | {record['slow']} of {record['pages']} |"]
    marks.replace(page, BEGIN, END, "\n".join(["", "", *lines, "", *conditions, "", ""]))
