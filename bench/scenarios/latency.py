# SPDX-License-Identifier: Apache-2.0
"""Latency: how long after an INSERT does the call arrive, when the worker has nothing else to do?"""

import argparse
import time

from contenders import Contender
from harness.process import Process
from harness.workbench import Database, Workbench
from scenarios.scenario import Figure, Scenario

EVERY_S = 0.02
WARM_UP_CALLS = 20
WARM_UP_LIMIT_S = 30
WARM_UP_FIRST = 60_000  # differs from all numbers of measured calls
QUIET_S = 1.5  # after it the worker is idle
LAST_ARRIVALS_S = 1.5


class Latency(Scenario):
    """Sends a prepared INSERT every 20 ms, each in its own transaction. The time ends when its call arrives."""

    name = "latency"
    figures = [
        Figure("p50_ms", "insert → call arrives, p50 ms"),
        Figure("p99_ms", "insert → call arrives, p99 ms"),
        Figure("max_ms", "insert → call arrives, max ms", compare=False),
        Figure("insert_p50_ms", "the INSERT alone, p50 ms", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=10, help="how long to insert")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        count = round(self.options.seconds / EVERY_S)
        with bench.database(contender) as database, \
                bench.worker(contender, database, self.options.concurrency) as worker:
            self._warm_up(bench, contender, database, worker)
            bench.stamps.clear()
            sent, returned = [0] * count, [0] * count
            start = time.monotonic()
            for number in range(count):
                time.sleep(max(0, start + number * EVERY_S - time.monotonic()))
                url = f"{bench.stamps.base_url}/stamp/{number}"
                sent[number] = time.time_ns()
                database.session.execute(contender.insert_sql, (url,), prepare=True)
                returned[number] = time.time_ns()
            time.sleep(LAST_ARRIVALS_S)
            arrived = bench.stamps.arrivals()
        if len(arrived) != count:
            raise RuntimeError(f"{contender.name}: {len(arrived)} of {count} calls arrived")
        waits = sorted((arrived[number] - sent[number]) / 1e6 for number in range(count))
        inserts = sorted((returned[number] - sent[number]) / 1e6 for number in range(count))
        return {
            "inserts": count,
            "p50_ms": quantile(waits, 0.50),
            "p90_ms": quantile(waits, 0.90),
            "p99_ms": quantile(waits, 0.99),
            "max_ms": waits[-1],
            "insert_p50_ms": quantile(inserts, 0.50),
            "insert_p99_ms": quantile(inserts, 0.99),
        }

    @staticmethod
    def _warm_up(bench: Workbench, contender: Contender, database: Database, worker: Process) -> None:
        """Makes single calls until some have arrived, so that sessions, plans and connections exist."""
        bench.stamps.clear()
        deadline = time.monotonic() + WARM_UP_LIMIT_S
        number = WARM_UP_FIRST
        while len(bench.stamps.arrivals()) < WARM_UP_CALLS:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{contender.name}: no {WARM_UP_CALLS} calls within {WARM_UP_LIMIT_S} s")
            worker.check()
            database.session.execute(contender.insert_sql, (f"{bench.stamps.base_url}/stamp/{number}",), prepare=True)
            number += 1
            time.sleep(0.1)
        time.sleep(QUIET_S)


def quantile(ascending: list[float], part: float) -> float:
    """The value at this part of the list, for example 0.99 for the p99."""
    return ascending[min(len(ascending) - 1, int(len(ascending) * part))]
