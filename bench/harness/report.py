# SPDX-License-Identifier: Apache-2.0
"""Keeps each measurement as a line of JSON, and turns them into one table."""

import json
import os
import platform
import statistics
import time
from pathlib import Path

from scenarios import Figure, Scenario

FLOOR = "floor"


class Report:
    """Medians of the rounds with their range, and ratios to the floor of the same round."""

    def __init__(self, directory: Path, names: list[str]):
        directory.mkdir(parents=True, exist_ok=True)
        self.raw = directory / time.strftime("%Y%m%d-%H%M%S.jsonl", time.gmtime())
        self._names = names
        self._records: list[dict[str, object]] = []
        self._figures: dict[str, list[Figure]] = {}

    def add(self, scenario: Scenario, contender: str, round_number: int, values: dict[str, object]) -> None:
        """Writes the record at once, so that an interrupted run keeps its measurements."""
        record = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "scenario": scenario.name,
                  "contender": contender, "round": round_number, **values}
        self._records.append(record)
        self._figures[scenario.name] = scenario.figures
        with open(self.raw, "a") as file:
            file.write(json.dumps(record) + "\n")

    def records(self, scenario: Scenario) -> list[dict[str, object]]:
        """All records of a scenario, in the order of the runs."""
        return [record for record in self._records if record["scenario"] == scenario.name]

    def table(self) -> str:
        """The markdown table: a line per figure, a column per contender, then the ratios."""
        compared = [name for name in self._names if name != FLOOR] if FLOOR in self._names else []
        head = ["scenario", "figure", *self._names, *(f"{name} ÷ {FLOOR}" for name in compared)]
        lines = [_row(head), _row(["---"] * len(head))]
        for scenario, figures in self._figures.items():
            for figure in figures:
                cells = [self._median(scenario, name, figure.key) for name in self._names]
                ratios = [self._ratio(scenario, name, figure.key) if figure.compare else "" for name in compared]
                lines.append(_row([scenario, figure.label, *cells, *ratios]))
        return "\n".join(lines)

    def _values(self, scenario: object, contender: str, key: str) -> dict[int, float]:
        """Round → value. Some figures do not exist for some contenders."""
        return {record["round"]: record[key] for record in self._records
                if record["scenario"] == scenario and record["contender"] == contender and key in record}

    def _median(self, scenario: object, contender: str, key: str) -> str:
        return _spread(list(self._values(scenario, contender, key).values()))

    def _ratio(self, scenario: object, contender: str, key: str) -> str:
        floor = self._values(scenario, FLOOR, key)
        own = self._values(scenario, contender, key)
        return _spread([own[number] / floor[number] for number in own if floor.get(number)])


def machine() -> str:
    """The machine and its kernel, in one line."""
    processor = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in processor if line.startswith("model name")), "unknown CPU")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return f"{os.cpu_count()} × {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    middle = _number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({_number(min(values))}–{_number(max(values))})"


def _number(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
