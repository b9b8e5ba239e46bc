# SPDX-License-Identifier: Apache-2.0
"""The floor: a plain C worker without features."""

import psycopg

from contenders.contender import Contender


class Floor(Contender):
    """floor/floor_worker.c on floor/schema.sql."""

    name = "floor"
    load_sql = "insert into jobs (url) select %(url)s::text from generate_series(1, %(count)s)"
    load_later_sql = (
        "insert into jobs (url, run_at)"
        " select %(url)s::text, now() + interval '1 day' from generate_series(1, %(count)s)")
    insert_sql = "with added as (insert into jobs (url) values (%s::text)) select pg_notify('floor', '')"
    insert_many_sql = (
        "with added as (insert into jobs (url) select unnest(%s::text[])) select pg_notify('floor', '')")
    finished_sql = "select count(*) from results"
    kept_sql = "select count(*) from results where status = 200 and length(body) > 200"
    claim_pattern = "%skip locked%"

    def prepare(self, url: str) -> None:
        with psycopg.connect(url) as session:
            session.execute((self._repository / "bench/floor/schema.sql").read_text())

    def command(self, url: str, concurrency: int) -> list[str]:
        return [str(self._build / "floor_worker"), url, str(concurrency)]
