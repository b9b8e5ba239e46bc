# SPDX-License-Identifier: Apache-2.0
"""Backlog: does a claim cost more when a million jobs wait?"""

import argparse

from contenders import Contender
from harness.meter import running_ms
from harness.workbench import Database, Workbench
from scenarios.scenario import Figure, Scenario

START_LIMIT_S = 60
ROWS_AT_ONCE = 5_000
WARM_UP_CALLS = 1_000  # until then, sessions, plans and connections are new
RUN_LIMIT_S = 300


class Backlog(Scenario):
    """Runs the same number of jobs from a short queue and from a long one, and compares.

    The CPU time covers only the worker's sessions. The number of blocks that the claim touches has no noise.
    """

    name = "backlog"
    figures = [
        Figure("cpu_long_to_short", "PostgreSQL CPU/job, long queue ÷ short", compare=False),
        Figure("claim_time_long_to_short", "claim time/job, long queue ÷ short", compare=False),
        Figure("claim_blocks_long_to_short", "claim blocks/job, long queue ÷ short", compare=False),
        Figure("rate_long_to_short", "jobs/s, long queue ÷ short", compare=False),
        Figure("long_claim_us_per_job", "claim µs/job, long queue"),
        Figure("long_claim_blocks_per_job", "claim blocks/job, long queue"),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--drained", type=int, default=5_000, help="jobs measured off each queue")
        parser.add_argument("--short", type=int, default=1_000, help="ready jobs left in the short queue")
        parser.add_argument(
            "--long", type=int, default=1_000_000, help="ready jobs left in the long queue, and as many scheduled")

    def fits(self, contender: Contender) -> bool:
        return contender.claim_pattern is not None

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        drained = self.options.drained
        short = self._measure(bench, contender, ready=self.options.short, scheduled=0)
        long = self._measure(bench, contender, ready=self.options.long, scheduled=self.options.long)
        record: dict[str, object] = {"drained": drained}
        record |= {f"short_{key}": value for key, value in short.items()}
        record |= {f"long_{key}": value for key, value in long.items()}
        for name, key in (("cpu", "cpu_us_per_job"), ("claim_time", "claim_us_per_job"),
                          ("claim_blocks", "claim_blocks_per_job"), ("rate", "jobs_per_s")):
            record[f"{name}_long_to_short"] = long[key] / short[key]
        return record

    def _measure(self, bench: Workbench, contender: Contender, ready: int, scheduled: int) -> dict[str, float]:
        with bench.database(contender) as database:
            url = bench.nginx.base_url + "/call"
            if scheduled:
                assert contender.load_later_sql
                database.session.execute(contender.load_later_sql, {"url": url, "count": scheduled})
            last = WARM_UP_CALLS + self.options.drained
            # Uses small statements. A queue may set the rows of a large one aside, and then they are not ready.
            for loaded in range(0, last + ready, ROWS_AT_ONCE):
                contender.load(database.session, min(ROWS_AT_ONCE, last + ready - loaded), url)
            database.settle()
            _track_statements(database)
            before = bench.nginx.requests()
            with bench.worker(contender, database, self.options.concurrency) as worker:
                for _ in bench.nginx.watch(WARM_UP_CALLS, before, worker, START_LIMIT_S):
                    pass
                sessions = database.worker_sessions()
                database.session.execute("select pg_stat_statements_reset()")
                first_cpu = _cpu_ms(sessions)
                # Calls are counted at the same moments as the CPU time, because the worker does not wait for this
                # program.
                samples = list(bench.nginx.watch(last, before, worker, RUN_LIMIT_S))
                cpu = _cpu_ms(sessions) - first_cpu
                claim_us, claim_blocks = _claim_cost(database, contender)
        (start, begun), (end, ended) = samples[0], samples[-1]
        return {
            "jobs_per_s": (ended - begun) / (end - start),
            "cpu_us_per_job": cpu * 1000 / (ended - begun),
            "claim_us_per_job": claim_us,
            "claim_blocks_per_job": claim_blocks,
        }


def _track_statements(database: Database) -> None:
    """Switches pg_stat_statements on for the sessions that start from now on."""
    name = database.session.info.dbname
    database.session.execute("create extension pg_stat_statements")
    database.session.execute(f"alter database \"{name}\" set pg_stat_statements.track = 'top'")


def _cpu_ms(sessions: list[int]) -> float:
    return sum(running_ms(pid) for pid in sessions)


def _claim_cost(database: Database, contender: Contender) -> tuple[float, float]:
    """(µs, shared blocks touched) of the claiming statement per claimed job."""
    row = database.session.execute(
        "select sum(total_exec_time) * 1000, sum(shared_blks_hit + shared_blks_read), sum(rows)"
        " from pg_stat_statements"
        " where dbid = (select oid from pg_database where datname = current_database()) and query ilike %s",
        (contender.claim_pattern,)).fetchone()
    if not row or not row[2]:
        raise RuntimeError(f"{contender.name}: no statement like {contender.claim_pattern} has claimed anything")
    return float(row[0] / float(row[2])), float(row[1] / row[2])
