# SPDX-License-Identifier: Apache-2.0
"""What a scenario needs to know of a queue and its worker."""

import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

import psycopg


class Contender(ABC):
    """A queue in PostgreSQL with a worker program.

    The SQL takes `%(url)s` and `%(count)s`: loading needs no client library and costs the same round trip for all.
    """

    name: str
    #: Adds `count` calls of `url` that are due now.
    load_sql: str
    #: Adds `count` calls that are due in a day; None where no scenario needs it.
    load_later_sql: str | None = None
    #: Adds one call and wakes an idle worker.
    insert_sql: str
    #: How many jobs are finished with their result stored.
    finished_sql: str
    #: How many results have status 200 and a whole body.
    kept_sql: str
    #: Matches the text of the statement that claims (pg_stat_statements); None where no scenario needs it.
    claim_pattern: str | None = None
    #: A table to compare bulk inserts with a bare one; None where that is no question.
    jobs_table: str | None = None
    #: Sets up what the two statements after it need, once; it takes `%(base)s`. None where no scenario needs it.
    service_sql: str | None = None
    #: Adds `count` calls whose target, headers and limits stand in a row of settings.
    load_service_sql: str | None = None
    #: Adds `count` calls that stored answers of the same size serve, and nothing else; the second with such a row.
    load_hits_sql: str | None = None
    load_service_hits_sql: str | None = None
    #: Adds `count` calls as members of batches of `size`, all in one transaction; None where that is no question.
    load_batches_sql: str | None = None
    #: Adds a chain of `count` calls of `url` followed by their numbers from 0.
    load_chain_sql: str | None = None
    #: Adds `count` calls spread over `lanes` lanes, the first of them `lane 0`; None where that is no question.
    load_lanes_sql: str | None = None
    #: Limits `lane 0` to `calls` under way and to `rate` a second; null: no limit.
    limit_sql: str | None = None
    #: Slow ones get fewer jobs, so that a round stays short; rates are per second, so they compare.
    most_jobs: int | None = None

    def __init__(self, repository: Path, build: Path):
        self._repository, self._build = repository, build

    @abstractmethod
    def prepare(self, url: str) -> None:
        """Creates tables and functions in an empty database."""

    @abstractmethod
    def command(self, url: str, concurrency: int) -> list[str]:
        """Starts a worker that ends on SIGTERM."""

    def command_without_calls(self, url: str, concurrency: int) -> list[str]:
        """The same worker, but each job ends where its call would begin: a target on this machine is refused."""
        raise NotImplementedError

    @staticmethod
    def install(command: list[str]) -> None:
        """Runs a set-up command; what it says is shown only if it fails."""
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bench: {command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def load(self, session: psycopg.Connection, count: int, url: str) -> None:
        """Adds `count` jobs in one statement."""
        session.execute(self.load_sql, {"url": url, "count": count})

    def count_jobs(self, wanted: int) -> int:
        """`wanted`, or what is bearable."""
        return min(wanted, self.most_jobs or wanted)
