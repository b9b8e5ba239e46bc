# SPDX-License-Identifier: Apache-2.0
"""Drain: how fast, and at what cost, does one worker empty a full queue?"""

import argparse

from contenders import Contender
from harness import drained
from harness.meter import peak_rss_mb
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario


class Drain(Scenario):
    """The clock runs from the first request that nginx sees until the last result is stored."""

    name = "drain"
    figures = [
        Figure("jobs_per_s", "jobs/s"),
        Figure("cpu_us_per_job", "CPU µs/job, worker + PostgreSQL"),
        Figure("worker_cpu_us_per_job", "CPU µs/job, worker"),
        Figure("postgres_cpu_us_per_job", "CPU µs/job, PostgreSQL"),
        Figure("wal_bytes_per_job", "WAL bytes/job"),
        Figure("peak_rss_mb", "peak RSS, MB", compare=False),
        Figure("other_cpu_percent", "CPU of others, % of one core", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=50_000, help="queued before the worker starts")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        jobs = contender.count_jobs(self.options.jobs)
        with bench.database(contender) as database:
            contender.load(database.session, jobs, bench.nginx.base_url + "/call")
            database.settle()
            before = bench.nginx.requests()
            with bench.worker(contender, database, self.options.concurrency) as worker:
                usage, wal = drained.measure(bench, database, [worker], jobs, before)
                rss = peak_rss_mb(worker.pid)
        return {
            "jobs": jobs,
            "seconds": usage.seconds,
            "jobs_per_s": jobs / usage.seconds,
            "cpu_us_per_job": (usage.worker + usage.postgres) / jobs * 1e6,
            "worker_cpu_us_per_job": usage.worker / jobs * 1e6,
            "postgres_cpu_us_per_job": usage.postgres / jobs * 1e6,
            "target_cpu_us_per_job": usage.target / jobs * 1e6,
            "wal_bytes_per_job": wal / jobs,
            "peak_rss_mb": rss,
            "other_cpu_percent": usage.other / usage.seconds * 100,
        }
