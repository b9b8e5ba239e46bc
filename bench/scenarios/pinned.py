# SPDX-License-Identifier: Apache-2.0
"""Pinned: does the rate hold while an old transaction keeps dead rows from being removed?"""

import argparse
from contextlib import nullcontext

import psycopg

from contenders import Contender
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario

START_LIMIT_S = 60
RUN_LIMIT_S = 1800


class Pinned(Scenario):
    """Drains once as a control and once under a REPEATABLE READ transaction that has an xid since before the load.

    The rate is measured for each window of requests. A queue that reads its own dead rows gets slower and slower.
    """

    name = "pinned"
    figures = [
        Figure("held_last_to_first", "held: last window ÷ first", compare=False),
        Figure("control_last_to_first", "control: last window ÷ first", compare=False),
        Figure("last_held_to_control", "last window: held ÷ control", compare=False),
        Figure("held_jobs_per_s", "held: jobs/s of the whole run"),
        Figure("held_to_control", "held ÷ control, jobs/s of the whole run", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=100_000, help="queued before the worker starts")
        parser.add_argument("--window", type=int, default=10_000, help="jobs per window")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        jobs, window = contender.count_jobs(self.options.jobs), self.options.window
        window = min(window, jobs // 2)
        control = self._window_rates(bench, contender, jobs, window, held=False)
        held = self._window_rates(bench, contender, jobs, window, held=True)
        held_rate, control_rate = _whole(held), _whole(control)
        return {
            "jobs": jobs,
            "window": window,
            "held_windows": held,
            "control_windows": control,
            "held_last_to_first": held[-1] / held[0],
            "control_last_to_first": control[-1] / control[0],
            "last_held_to_control": held[-1] / control[-1],
            "held_jobs_per_s": held_rate,
            "held_to_control": held_rate / control_rate,
        }

    def _window_rates(
        self, bench: Workbench, contender: Contender, jobs: int, window: int, held: bool
    ) -> list[float]:
        with bench.database(contender) as database:
            old = bench.cluster.connect(database.session.info.dbname) if held else nullcontext()
            with old as transaction:
                if transaction:
                    pin(transaction)
                contender.load(database.session, jobs, bench.nginx.base_url + "/call")
                database.settle()
                before = bench.nginx.requests()
                with bench.worker(contender, database, self.options.concurrency) as worker:
                    for _ in bench.nginx.watch(1, before, worker, START_LIMIT_S):
                        pass
                    samples = list(bench.nginx.watch(jobs, before, worker, RUN_LIMIT_S))
                    database.await_finished(jobs, worker)
        return rates(samples, window, jobs)


def pin(session: psycopg.Connection) -> None:
    """Takes a snapshot and a transaction id that stay until the session ends."""
    session.execute("begin isolation level repeatable read")
    session.execute("select pg_current_xact_id()")


def rates(samples: list[tuple[float, int]], window: int, jobs: int) -> list[float]:
    """Jobs/s of each whole window, its borders interpolated between the samples (time, requests so far)."""
    borders, result, index = [], [], 0
    first = samples[0][1]
    for wanted in range(0, jobs + 1, window):
        wanted = max(wanted, first)
        while samples[index][1] < wanted:
            index += 1
        earlier, later = samples[max(0, index - 1)], samples[index]
        part = (wanted - earlier[1]) / (later[1] - earlier[1]) if later[1] > earlier[1] else 0
        borders.append((earlier[0] + part * (later[0] - earlier[0]), wanted))
    for (start, begun), (end, ended) in zip(borders, borders[1:]):
        result.append((ended - begun) / (end - start))
    return result


def _whole(windows: list[float]) -> float:
    """The rate over windows of one size: their harmonic mean."""
    return len(windows) / sum(1 / rate for rate in windows)
