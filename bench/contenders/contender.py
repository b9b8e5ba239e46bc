# SPDX-License-Identifier: Apache-2.0
"""The interface of a contender: the SQL of its queue and the command of its worker."""

import importlib.metadata
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

import psycopg


class Contender(ABC):
    """A queue in PostgreSQL with a worker program.

    The SQL takes `%(url)s` and `%(count)s`. So loading needs no client library, and costs all the same round trip.
    An optional text is None if the scenario that needs it skips the contender.
    """

    name: str
    #: Adds `count` calls of `url` that are due now.
    load_sql: str
    #: Adds `count` calls that are due in a day.
    load_later_sql: str | None = None
    #: Adds one call and wakes an idle worker.
    insert_sql: str
    #: Adds one call for each URL of an array, in one statement, and wakes an idle worker.
    insert_many_sql: str
    #: The number of jobs that are finished with their result stored.
    finished_sql: str
    #: The number of results with status 200 and a whole body. The targets (stamp_target.c, nginx.conf.in) send about
    #: 290 bytes. A body of at most 200 bytes is incomplete or an error.
    kept_sql: str
    #: Matches the text of the claim statement in pg_stat_statements.
    claim_pattern: str | None = None
    #: The table of jobs, whose bulk INSERT is compared with one into a bare table.
    jobs_table: str | None = None
    #: Adds the row of settings, once, that the statements named `service` need; it takes `%(base)s`.
    service_sql: str | None = None
    #: Adds `count` calls whose target, headers and limits stand in that row.
    load_service_sql: str | None = None
    #: Statements that add a service with a login and an envelope, and an operation of it; they may take `%(base)s`.
    rich_setup_sql: tuple[str, ...] = ()
    #: Adds `count` calls of that operation. It has a validator, and keeps its answers in the cache.
    load_rich_sql: str | None = None
    #: Adds `count` calls, all served by stored answers as large as the target's; the second with that row.
    load_hits_sql: str | None = None
    load_service_hits_sql: str | None = None
    #: Adds `count` calls as members of batches of `size`, all in one transaction.
    load_batches_sql: str | None = None
    #: Adds a chain of `count` calls. Each calls `url` followed by its number, from 0 on.
    load_chain_sql: str | None = None
    #: Adds `count` calls spread over `lanes` lanes, the first of them `lane 0`.
    load_lanes_sql: str | None = None
    #: Limits `lane 0` to `calls` in flight and to `rate` a second; null: no limit.
    limit_sql: str | None = None
    #: The tables that grow with each job, with their schema; the first holds the jobs. Empty: not in `public`.
    event_tables: tuple[str, ...] = ()
    #: With event_tables: the jobs that wait for a worker, all jobs ever added, and the jobs that succeeded with their
    #: result stored.
    depth_sql: str
    added_sql: str
    succeeded_sql: str
    #: The most jobs for a slow contender, so that a round stays short. Rates per second still compare.
    most_jobs: int | None = None

    def __init__(self, repository: Path, build: Path):
        self._repository, self._build = repository, build

    @abstractmethod
    def prepare(self, url: str) -> None:
        """Creates tables and functions in an empty database."""

    @abstractmethod
    def command(self, url: str, concurrency: int) -> list[str]:
        """The command of a worker that ends on SIGTERM."""

    def command_without_calls(self, url: str, concurrency: int) -> list[str]:
        """The same worker, but it refuses a target on this machine: each job ends where its call would begin."""
        raise NotImplementedError

    def version(self) -> str:
        """The version of the queue."""
        return importlib.metadata.version(self.name)

    @staticmethod
    def install(command: list[str]) -> None:
        """Runs a set-up command, and shows its output only if it fails."""
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bench: {command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def load(self, session: psycopg.Connection, count: int, url: str) -> None:
        """Adds `count` jobs in one statement."""
        session.execute(self.load_sql, {"url": url, "count": count})

    def count_jobs(self, wanted: int) -> int:
        """`wanted`, but at most `most_jobs`."""
        return min(wanted, self.most_jobs or wanted)
