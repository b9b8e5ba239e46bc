# SPDX-License-Identifier: Apache-2.0
"""procrastinate, from PyPI."""

import sys

import psycopg

from contenders.contender import Contender

# The library's own function for deferring jobs.
_DEFER = """
select procrastinate_defer_jobs_v1(array(
  select row('default', 'call', 0, null, null, jsonb_build_object('url', {url}::text), null)
    ::procrastinate_job_to_defer_v1
  from {rows}))
"""


class Procrastinate(Contender):
    """Each job: a GET with aiohttp, one INSERT of the result through asyncpg (peers/procrastinate_worker.py)."""

    name = "procrastinate"
    load_sql = _DEFER.format(url="%(url)s", rows="generate_series(1, %(count)s)")
    insert_sql = _DEFER.format(url="%s", rows="generate_series(1, 1)")
    insert_many_sql = _DEFER.format(url="url", rows="unnest(%s::text[]) url")
    finished_sql = (
        "select least((select count(*) from results),"
        " (select count(*) from procrastinate_jobs where status = 'succeeded'))")
    kept_sql = "select count(*) from results where status = 200 and length(body) > 200"
    event_tables = ("public.procrastinate_jobs", "public.procrastinate_events", "public.results")
    depth_sql = "select count(*) from procrastinate_jobs where status = 'todo'"
    added_sql = "select count(*) from procrastinate_jobs"
    succeeded_sql = "select count(*) from results"
    most_jobs = 5_000

    def prepare(self, url: str) -> None:
        self.install([*self._worker(url), "install"])
        with psycopg.connect(url) as session:
            session.execute((self._repository / "bench/peers/results.sql").read_text())

    def command(self, url: str, concurrency: int) -> list[str]:
        return [*self._worker(url), "run", str(concurrency)]

    def _worker(self, url: str) -> list[str]:
        return [sys.executable, str(self._repository / "bench/peers/procrastinate_worker.py"), url]
