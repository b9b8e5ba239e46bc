# SPDX-License-Identifier: Apache-2.0
"""Fleet: what do several workers reach together, and what do idle workers cost the busy one?"""

import argparse
import time
from contextlib import ExitStack

from contenders import Contender
from harness import drained
from harness.meter import Usage
from harness.process import Process
from harness.workbench import Database, Workbench
from scenarios.scenario import Figure, Scenario

START_LIMIT_S = 120
GROUP = 20  # idle workers that start at once: a start fails if PostgreSQL does not answer within ten seconds
REST_S = 10  # idle workers settle for so long, and are then measured for so long
# An idle worker of a large fleet looks for jobs every 15 s. Its first look after ANALYZE takes ten times as long, because
# PostgreSQL plans the statement anew.
LOOK_S = 16
IDLE_QUEUE = "idle"


class Fleet(Scenario):
    """Drains the same number of jobs by one worker, by two, by eight, and by one beside idle workers of another queue.

    The order of the runs changes from round to round. The CPU of idle workers counts as that of others.
    """

    name = "fleet"
    in_all = False

    def __init__(self, options: argparse.Namespace):
        super().__init__(options)
        self._round = 0
        self.connections = max(Scenario.connections, 2 * options.idle + 100)
        idle = f"{options.idle:,} idle workers"
        self.figures = [
            Figure("one_jobs_per_s", "one worker: jobs/s"),
            Figure("one_cpu_us_per_job", "one worker: CPU µs/job, worker + PostgreSQL"),
            Figure("two_to_one", "two workers ÷ one, jobs/s", compare=False),
            Figure("two_cpu_to_one", "the same, CPU a job", compare=False),
            Figure("eight_to_one", "eight workers ÷ one, jobs/s", compare=False),
            Figure("eight_cpu_to_one", "the same, CPU a job", compare=False),
            Figure("idle_to_one", f"one worker beside {idle} ÷ alone, jobs/s", compare=False),
            Figure("idle_cpu_to_one", "the same, CPU a job of the busy worker and PostgreSQL", compare=False),
            Figure("idle_percent", f"{idle}: CPU of each, % of one core", compare=False),
            Figure("idle_postgres_percent", f"{idle}: CPU of PostgreSQL for each, % of one core", compare=False),
        ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=60_000, help="in each queue")
        parser.add_argument("--idle", type=int, default=100, help="idle workers; 0: without this run")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        ways = {"one": (1, 0), "two": (2, 0), "eight": (8, 0)}
        if self.options.idle and contender.name == "postrider":
            ways["idle"] = (1, self.options.idle)
        names = list(ways)
        turn = self._round % len(names)
        self._round += 1
        runs = {name: self._drain(bench, contender, *ways[name]) for name in names[turn:] + names[:turn]}
        found: dict[str, object] = {"jobs": self.options.jobs}
        for name, values in runs.items():
            found |= {f"{name}_{key}": value for key, value in values.items()}
            found[f"{name}_to_one"] = values["jobs_per_s"] / runs["one"]["jobs_per_s"]
            found[f"{name}_cpu_to_one"] = values["cpu_us_per_job"] / runs["one"]["cpu_us_per_job"]
        return found

    def _drain(self, bench: Workbench, contender: Contender, busy: int, idle: int) -> dict[str, float]:
        jobs, found = self.options.jobs, {}
        with ExitStack() as stack:
            database = stack.enter_context(bench.database(contender))
            if idle:
                idle_workers: list[Process] = []
                while len(idle_workers) < idle:
                    for _ in range(min(GROUP, idle - len(idle_workers))):
                        idle_workers.append(stack.enter_context(
                            bench.worker(contender, database, 1, options=["--queue", IDLE_QUEUE])))
                    _await_sessions(database, idle_workers)
                time.sleep(REST_S)
                meter = bench.meter(database, *idle_workers)
                first = meter.read()
                time.sleep(REST_S)
                usage = Usage.between(first, meter.read())
                for key, seconds in (("percent", usage.worker), ("postgres_percent", usage.postgres)):
                    found[key] = seconds / usage.seconds / idle * 100
            contender.load(database.session, jobs, bench.nginx.base_url + "/call")
            database.settle()
            if idle:
                time.sleep(LOOK_S)
            before = bench.nginx.requests()
            workers = [stack.enter_context(bench.worker(contender, database, self.options.concurrency))
                       for _ in range(busy)]
            usage, _ = drained.measure(
                bench, database, workers, jobs, before, start_limit_s=START_LIMIT_S)
        return found | {
            "jobs_per_s": jobs / usage.seconds,
            "cpu_us_per_job": (usage.worker + usage.postgres) / jobs * 1e6,
            "other_cpu_percent": usage.other / usage.seconds * 100,
        }


def _await_sessions(database: Database, workers: list[Process]) -> None:
    """Waits until each worker has its two sessions."""
    deadline = time.monotonic() + START_LIMIT_S
    while (sessions := len(database.worker_sessions())) < 2 * len(workers):
        for worker in workers[-GROUP:]:
            worker.check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{sessions} sessions of {len(workers)} workers after {START_LIMIT_S:.0f} s")
        time.sleep(0.2)
