# SPDX-License-Identifier: Apache-2.0
"""Memory: what does an idle worker hold, and what thousands of calls in flight?"""

import argparse
import time

from contenders import Contender
from harness.meter import peak_rss_mb, rss_mb
from harness.process import Process
from harness.workbench import Database, Workbench
from scenarios.scenario import Figure, Scenario

IDLE_CONCURRENCY = 64
SETTLE_S = 3
CONNECT_LIMIT_S = 20


class Memory(Scenario):
    """Calls go to a target that answers late, so that all of them are in flight at one time."""

    name = "memory"
    figures = [
        Figure("idle_rss_mb", "RSS idle, MB", compare=False),
        Figure("busy_rss_mb", "RSS with all calls in flight, MB", compare=False),
        Figure("kb_per_call", "KB per call in flight", compare=False),
        Figure("peak_rss_mb", "peak RSS to the last result, MB", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--in-flight", type=int, default=5_000, help="calls held open at once")
        parser.add_argument("--delay", type=int, default=15, help="seconds until the target answers, below 30")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        calls = self.options.in_flight
        with bench.database(contender) as database:
            with bench.worker(contender, database, IDLE_CONCURRENCY) as worker:
                _await_session(database, worker)
                time.sleep(SETTLE_S)
                idle = rss_mb(worker.pid)
            contender.load(database.session, calls, f"{bench.stamps.base_url}/delay/{self.options.delay * 1000}")
            database.settle()
            with bench.worker(contender, database, calls) as worker:
                self._await_in_flight(bench, worker)
                busy = rss_mb(worker.pid)
                database.await_finished(calls, worker)
                peak = peak_rss_mb(worker.pid)
        return {
            "calls": calls,
            "idle_rss_mb": idle,
            "busy_rss_mb": busy,
            "kb_per_call": (busy - idle) * 1024 / calls,
            "peak_rss_mb": peak,
        }

    def _await_in_flight(self, bench: Workbench, worker: Process) -> None:
        deadline = time.monotonic() + CONNECT_LIMIT_S + self.options.delay
        while (waiting := bench.stamps.waiting()) < self.options.in_flight:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{worker.name}: {waiting} of {self.options.in_flight} calls were in flight")
            worker.check()
            time.sleep(0.05)


def _await_session(database: Database, worker: Process) -> None:
    deadline = time.monotonic() + CONNECT_LIMIT_S
    while not database.worker_sessions():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{worker.name} did not connect within {CONNECT_LIMIT_S} s")
        worker.check()
        time.sleep(0.05)
