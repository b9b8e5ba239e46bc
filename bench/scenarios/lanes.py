# SPDX-License-Identifier: Apache-2.0
"""Lanes: what do limits cost, and how fast are jobs that are spread over a thousand lanes?"""

import argparse

from contenders import Contender
from harness import drained
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario

START_LIMIT_S = 120
# Far above the number of calls that one worker has in flight.
CALLS = 10_000
# The highest possible rate.
RATE = 10_000
# With so few calls at once, the rate is not reached. The difference is then the cost of keeping the limit.
FEW = 8


class Lanes(Scenario):
    """Drains the same number of jobs six times, each in a fresh database, with the clock of the scenario drain.

    Four queues: in one lane, in one with max_in_flight, in one with a rate, and spread over a thousand lanes. Two more
    with few calls at once: in one lane, and in one with a rate.
    """

    name = "lanes"
    figures = [
        Figure("one_per_s", "one lane: jobs/s", compare=False),
        Figure("in_flight_to_one", "with max_in_flight ÷ without, jobs/s", compare=False),
        Figure("in_flight_cpu_to_one", "the same, CPU", compare=False),
        Figure("rate_used", "with a rate of 10,000/s, share of it that is used", compare=False),
        Figure("rate_cpu_to_one", f"a rate that {FEW} calls at once do not reach ÷ without, CPU", compare=False),
        Figure("many_to_one", "1,000 lanes ÷ one, jobs/s", compare=False),
        Figure("many_cpu_to_one", "the same, CPU", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=50_000, help="in each queue")
        parser.add_argument("--lanes", type=int, default=1000, help="over which they are spread")

    def fits(self, contender: Contender) -> bool:
        return contender.load_lanes_sql is not None

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        one = self._drain(bench, contender, 1, None, None)
        found: dict[str, object] = {"jobs": self.options.jobs, "one_per_s": one[0]}
        for name, lanes, calls in (("in_flight", 1, CALLS), ("many", self.options.lanes, None)):
            per_s, cpu = self._drain(bench, contender, lanes, calls, None)
            found |= {f"{name}_to_one": per_s / one[0], f"{name}_cpu_to_one": cpu / one[1]}
        found["rate_used"] = self._drain(bench, contender, 1, None, RATE)[0] / RATE
        few = [self._drain(bench, contender, 1, None, rate, FEW)[1] for rate in (None, RATE)]
        found["rate_cpu_to_one"] = few[1] / few[0]
        return found

    def _drain(
        self, bench: Workbench, contender: Contender, lanes: int, calls: int | None, rate: int | None,
        concurrency: int | None = None
    ) -> tuple[float, float]:
        """Jobs a second, and CPU seconds of worker and PostgreSQL."""
        jobs = self.options.jobs
        with bench.database(contender) as database:
            assert contender.load_lanes_sql and contender.limit_sql
            if calls or rate:
                database.session.execute(contender.limit_sql, {"calls": calls, "rate": rate})
            database.session.execute(
                contender.load_lanes_sql, {"url": bench.nginx.base_url + "/call", "count": jobs, "lanes": lanes})
            database.settle()
            before = bench.nginx.requests()
            with bench.worker(contender, database, concurrency or self.options.concurrency) as worker:
                usage, _ = drained.measure(
                    bench, database, [worker], jobs, before, start_limit_s=START_LIMIT_S)
        return jobs / usage.seconds, usage.worker + usage.postgres
