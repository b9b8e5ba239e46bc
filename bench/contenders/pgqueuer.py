# SPDX-License-Identifier: Apache-2.0
"""pgqueuer, from PyPI."""

import sys

import psycopg

from contenders.contender import Contender

# One INSERT into the queue and its log, like the library's own enqueue.
_ENQUEUE = """
with added as (
  insert into pgqueuer (priority, entrypoint, payload, execute_after, status)
  select 0, 'call', convert_to({url}::text, 'UTF8'), now(), 'queued' from {rows}
  returning id, entrypoint, priority)
insert into pgqueuer_log (job_id, status, entrypoint, priority) select id, 'queued', entrypoint, priority from added
"""


class PgQueuer(Contender):
    """Each job: a GET with aiohttp, one INSERT of the result through asyncpg (peers/pgqueuer_worker.py)."""

    name = "pgqueuer"
    load_sql = _ENQUEUE.format(url="%(url)s", rows="generate_series(1, %(count)s)")
    insert_sql = _ENQUEUE.format(url="%s", rows="generate_series(1, 1)")
    insert_many_sql = _ENQUEUE.format(url="url", rows="unnest(%s::text[]) url")
    # A job leaves the queue only after its result is stored.
    finished_sql = "select case when exists (select from pgqueuer) then 0 else (select count(*) from results) end"
    kept_sql = "select count(*) from results where status = 200 and length(body) > 200"
    event_tables = ("public.pgqueuer", "public.pgqueuer_log", "public.results")
    depth_sql = "select count(*) from pgqueuer where status = 'queued'"
    added_sql = "select count(distinct job_id) from pgqueuer_log"
    succeeded_sql = "select count(*) from results"
    most_jobs = 20_000

    def prepare(self, url: str) -> None:
        self.install([*self._worker(url), "install"])
        with psycopg.connect(url) as session:
            session.execute((self._repository / "bench/peers/results.sql").read_text())

    def command(self, url: str, concurrency: int) -> list[str]:
        return [*self._worker(url), "run", str(concurrency)]

    def _worker(self, url: str) -> list[str]:
        return [sys.executable, str(self._repository / "bench/peers/pgqueuer_worker.py"), url]
