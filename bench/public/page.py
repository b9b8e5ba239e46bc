# SPDX-License-Identifier: Apache-2.0
"""Replaces the tables of a page of the docs by the figures of a run."""

import argparse
import shlex
import statistics
import time
from pathlib import Path

from harness import marks
from public.phases import PHASES

BEGIN = "<!-- figures: written by bench/run.sh public --page -->"
END = "<!-- end of the figures -->"
ENDS = [
    ("jobs in all", "added"),
    ("jobs without a success a minute after the last INSERT", "left"),
    ("seconds until no job was left, at most 60", "drain_s"),
    ("times the worker ended by itself", "worker_ends"),
    ("kills of the adapter with its worker", "kills"),
    ("sessions ended by backend kills", "backend_kills"),
    ("idle sessions during pool exhaustion", "idle_sessions"),
]


def write_tables(
    page: Path, records: list[dict[str, object]], machine: str, rates: list[int], options: argparse.Namespace
) -> None:
    """Writes medians of the rounds between the two marks of the page."""
    figures = _Figures(records)
    parts = [_conditions(figures, machine, page, rates, options)]
    for rate in rates:
        parts += [f"## {rate} jobs per second", *figures.tables(f"{rate}/s: ")]
    marks.replace(page, BEGIN, END, "\n\n".join(["", *parts, ""]))


class _Figures:
    """The records of the runs, and their tables. The keys of a rate begin with the text of the rate."""

    def __init__(self, records: list[dict[str, object]]):
        self._records = records
        self.systems = list(dict.fromkeys(str(record["contender"]) for record in records))

    def tables(self, rate: str) -> list[str]:
        """Jobs per second, latency and dead rows by phase; then the counts of the whole run."""
        shown = [phase.name for phase in PHASES if phase.is_shown]
        rates, waits, dead = ([
            [phase, *(" / ".join(self._cell(name, f"{rate}{phase}: {key}") for key in keys) for name in self.systems)]
            for phase in shown] for keys in (["per_s"], ["p50_ms", "p99_ms"], ["dead_rows"]))
        ends = [[label, *(self._median(name, rate + key) for name in self.systems)] for label, key in ENDS]
        return [
            "Jobs that succeeded per second:", self._table("phase", rates),
            "INSERT → the call arrives, p50 / p99 of the worst second, ms:", self._table("phase", waits),
            "Dead rows at the end of the phase:", self._table("phase", dead),
            "The whole run:", self._table("count", ends)]

    def busy(self) -> str:
        """The CPU of other programs before each run, from the lowest to the highest."""
        shares = sorted(float(value) for record in self._records
                        for key, value in record.items() if key.endswith("busy_before"))
        lowest, highest = f"{shares[0]:.0f}", f"{shares[-1]:.0f}"
        return f"{lowest} %" if lowest == highest else f"{lowest}–{highest} %"

    def rounds(self) -> int:
        """The number of rounds."""
        return len({record["round"] for record in self._records})

    def _cell(self, system: str, key: str) -> str:
        """The median; – for a latency of a phase without a call."""
        text = self._median(system, key)
        return "–" if text == "0" and key.endswith("_ms") else text

    def _median(self, system: str, key: str) -> str:
        """The median over the rounds, with three digits."""
        value = statistics.median(
            float(record[key]) for record in self._records if record["contender"] == system and key in record)
        return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}" if value >= 1 else f"{value:.1f}"

    def _table(self, corner: str, rows: list[list[str]]) -> str:
        return _markdown([corner, *self.systems], rows)


def _conditions(
    figures: _Figures, machine: str, page: Path, rates: list[int], options: argparse.Namespace
) -> str:
    offered = ",".join(str(rate) for rate in rates)
    command = (f"bench/run.sh public --contenders {','.join(figures.systems)} --rounds {options.rounds}"
               f" --seconds {options.seconds:g} --rate {offered} --work {options.work}"
               f" --concurrency {options.concurrency} --page {shlex.quote(str(page))}")
    rows = [
        ("command", f"`{command}`"),
        ("day", time.strftime("%-d %B %Y, %H:%M UTC", time.gmtime())),
        ("machine", machine),
        ("CPU in use by other programs before each run", figures.busy()),
        ("load", f"in high load half as many jobs again; each job works {options.work} ms; concurrency"
                 f" {options.concurrency}"),
        ("figures", f"medians of {figures.rounds()} rounds; phases of {options.seconds:g} s"),
    ]
    return _markdown(["condition", "value"], [list(row) for row in rows])


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(line) + " |" for line in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])
