# SPDX-License-Identifier: Apache-2.0
"""Rich: what does a job cost that has a service, and one that the cache serves?"""

import argparse

from contenders import Contender
from harness.meter import Usage
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario

EVERY_S = 0.05  # each check counts the results, so frequent checks would cost CPU time
RUN_LIMIT_S = 600


class Rich(Scenario):
    """Drains six queues in turn, each in a fresh database.

    The queues: plain jobs, plain jobs that the worker refuses where their call would begin, jobs with a service, rich
    jobs, cache hits without a service, and cache hits with one. A rich job has everything: an operation with an
    argument and a validator, a service with an envelope, a login, and an answer that goes into the cache.

    The clock runs from the first check that finds a result until the last result is stored. Jobs that were finished at
    that check do not count. A hit makes no call, so it is compared with the refused job.
    """

    name = "rich"
    figures = [
        Figure("plain_cpu_us_per_job", "plain: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("service_cpu_us_per_job", "service: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("rich_cpu_us_per_job", "rich: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("hit_cpu_us_per_job", "hit: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("service_hit_cpu_us_per_job", "service and hit: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("service_to_plain", "service ÷ plain, CPU/job", compare=False),
        Figure("rich_to_plain", "rich ÷ plain, CPU/job", compare=False),
        Figure("refused_cpu_us_per_job", "plain without the call: CPU µs/job, worker + PostgreSQL", compare=False),
        Figure("hit_to_refused", "hit ÷ plain without the call, CPU/job", compare=False),
        Figure("hit_to_plain_postgres", "hit ÷ plain, CPU/job of PostgreSQL", compare=False),
        Figure("service_per_s", "service: jobs/s", compare=False),
        Figure("rich_per_s", "rich: jobs/s", compare=False),
        Figure("hits_per_s", "hit: jobs/s", compare=False),
        Figure("service_hits_per_s", "service and hit: jobs/s", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=30_000, help="in each queue")

    def fits(self, contender: Contender) -> bool:
        return contender.load_rich_sql is not None

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        assert contender.load_service_sql and contender.load_rich_sql
        assert contender.load_hits_sql and contender.load_service_hits_sql
        plain = self._drain(bench, contender, contender.load_sql, calls=True)
        refused = self._drain(bench, contender, contender.load_sql, calls=False, keeps=False)
        service = self._drain(bench, contender, contender.load_service_sql, calls=True)
        rich = self._drain(bench, contender, contender.load_rich_sql, calls=True, setup=contender.rich_setup_sql)
        hit = self._drain(bench, contender, contender.load_hits_sql, calls=False)
        service_hit = self._drain(bench, contender, contender.load_service_hits_sql, calls=False)
        record: dict[str, object] = {"jobs": self.options.jobs}
        drains = {"plain": plain, "refused": refused, "service": service, "rich": rich, "hit": hit, "service_hit": service_hit}
        for name, figures in drains.items():
            record |= {f"{name}_{key}": value for key, value in figures.items()}
        return record | {
            "service_to_plain": service["cpu_us_per_job"] / plain["cpu_us_per_job"],
            "rich_to_plain": rich["cpu_us_per_job"] / plain["cpu_us_per_job"],
            "hit_to_refused": hit["cpu_us_per_job"] / refused["cpu_us_per_job"],
            "hit_to_plain_postgres": hit["postgres_cpu_us_per_job"] / plain["postgres_cpu_us_per_job"],
            "service_per_s": service["jobs_per_s"],
            "rich_per_s": rich["jobs_per_s"],
            "hits_per_s": hit["jobs_per_s"],
            "service_hits_per_s": service_hit["jobs_per_s"],
        }

    def _drain(
        self, bench: Workbench, contender: Contender, load_sql: str, calls: bool, keeps: bool = True, setup: tuple[str, ...] = ()
    ) -> dict[str, float]:
        """`calls`: whether the target gets the calls; `keeps`: whether each job ends with its answer."""
        jobs = self.options.jobs
        with bench.database(contender) as database:
            for statement in (contender.service_sql, *setup):
                database.session.execute(statement, {"base": bench.nginx.base_url})
            values = {"url": bench.nginx.base_url + "/call", "base": bench.nginx.base_url, "count": jobs}
            database.session.execute(load_sql, values)
            database.settle()
            before = bench.nginx.requests()
            with bench.worker(contender, database, self.options.concurrency, calls=keeps) as worker:
                meter = bench.meter(database, worker)
                begun = database.await_finished(1, worker, RUN_LIMIT_S, EVERY_S)
                first = meter.read()
                database.await_finished(jobs, worker, RUN_LIMIT_S, EVERY_S)
                usage = Usage.between(first, meter.read())
            if (kept := database.kept()) != (jobs if keeps else 0):
                raise RuntimeError(f"{contender.name}: {kept} of {jobs} results have status 200 and a whole body")
            if (asked := bench.nginx.requests() - before) != (jobs if calls else 0):
                raise RuntimeError(f"{contender.name}: {asked} calls")
        return {
            "jobs_per_s": (jobs - begun) / usage.seconds,
            "cpu_us_per_job": (usage.worker + usage.postgres) / (jobs - begun) * 1e6,
            "worker_cpu_us_per_job": usage.worker / (jobs - begun) * 1e6,
            "postgres_cpu_us_per_job": usage.postgres / (jobs - begun) * 1e6,
            "other_cpu_percent": usage.other / usage.seconds * 100,
        }
