# SPDX-License-Identifier: Apache-2.0
"""Insert: what does a row in the queue cost beside a row in a plain table?"""

import argparse
import time

from contenders import Contender
from harness.workbench import Database, Workbench
from scenarios.scenario import Figure, Scenario


class Insert(Scenario):
    """One INSERT … SELECT into the jobs table and one into a table of the same columns, defaults and primary key,
    without trigger or partitions."""

    name = "insert"
    figures = [
        Figure("jobs_to_bare", "time, jobs ÷ bare table", compare=False),
        Figure("jobs_us_per_row", "µs/row into jobs", compare=False),
        Figure("bare_us_per_row", "µs/row into the bare table", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=1_000_000, help="of the one statement")

    def fits(self, contender: Contender) -> bool:
        return contender.jobs_table is not None

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        rows, table = self.options.rows, contender.jobs_table
        assert table
        with bench.database(contender) as database:
            database.session.execute(
                f"create table bare (like {table} including defaults including identity including generated)")
            database.session.execute("alter table bare add primary key (id)")
            bare_s, bare_wal = _time_load(database, contender.load_sql.replace(table, "bare"), rows)
        with bench.database(contender) as database:
            jobs_s, jobs_wal = _time_load(database, contender.load_sql, rows)
        return {
            "rows": rows,
            "jobs_to_bare": jobs_s / bare_s,
            "jobs_us_per_row": jobs_s / rows * 1e6,
            "bare_us_per_row": bare_s / rows * 1e6,
            "jobs_wal_bytes_per_row": jobs_wal / rows,
            "bare_wal_bytes_per_row": bare_wal / rows,
        }


def _time_load(database: Database, statement: str, rows: int) -> tuple[float, int]:
    """(seconds, bytes of WAL) of one INSERT. Nothing listens on the port: no worker runs."""
    database.settle()
    position = database.wal_position()
    start = time.monotonic()
    database.session.execute(statement, {"url": "http://127.0.0.1:22500/call", "count": rows})
    return time.monotonic() - start, database.wal_bytes_since(position)
