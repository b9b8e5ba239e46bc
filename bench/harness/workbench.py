# SPDX-License-Identifier: Apache-2.0
"""The servers that are set up once, and the databases of the runs."""

import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from contenders import Contender
from harness.cluster import Cluster
from harness.meter import Meter
from harness.process import Process
from harness.targets import Collector, Nginx, StampTarget, free_port

SOURCES = Path(__file__).resolve().parents[1]


class Workbench:
    """Runs the cluster and the targets inside `with`, and makes databases, workers and meters."""

    def __init__(self, build: Path, connections: int):
        self._build, self._connections = build, connections
        self._stack = ExitStack()
        self._prepared: set[str] = set()

    def __enter__(self) -> "Workbench":
        # 5,000 calls in flight need as many descriptors on both ends. Child processes inherit the limit.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with ExitStack() as stack:
            self.run_directory = Path(tempfile.mkdtemp(prefix="prb-run-", dir="/tmp"))
            stack.callback(shutil.rmtree, self.run_directory, ignore_errors=True)
            self.cluster = stack.enter_context(Cluster(self._connections))
            ports: set[int] = set()
            for _ in range(2):
                ports.add(free_port(ports))
            nginx_port, stamp_port = sorted(ports)
            self.nginx = stack.enter_context(
                Nginx(SOURCES / "target/nginx.conf.in", self.run_directory, nginx_port))
            self.stamps = stack.enter_context(
                StampTarget(self._build / "stamp_target", self.run_directory, stamp_port))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def database(self, contender: Contender) -> Iterator["Database"]:
        """A fresh database with the contender's schema: no run inherits dead rows or a grown table."""
        template, name = f"{contender.name}_template", f"{contender.name}_run"
        if template not in self._prepared:
            self._prepare(contender, template)
            self._prepared.add(template)
        self.cluster.create(name, template)
        with self.cluster.connect(name) as session:
            yield Database(self.cluster.url(name), session, contender)
        self.cluster.drop(name)

    def _prepare(self, contender: Contender, template: str) -> None:
        """Makes the template, with one call to each target, because a queue may keep a record for each target."""
        self.cluster.create(template)
        contender.prepare(self.cluster.url(template))
        with self.cluster.connect(template) as session:
            database = Database(self.cluster.url(template), session, contender)
            with self.worker(contender, database, concurrency=1) as worker:
                for target in (self.nginx, self.stamps):
                    session.execute(contender.insert_sql, (f"{target.base_url}/call",))
                database.await_finished(2, worker)

    def worker(self, contender: Contender, database: "Database", concurrency: int, calls: bool = True,
               options: list[str] | None = None, environment: dict[str, str] | None = None) -> Process:
        """A running worker, which `with` stops. `calls`: false for a worker that refuses its targets."""
        log = self.run_directory / f"{contender.name}.log"
        command = (contender.command if calls else contender.command_without_calls)(database.url, concurrency)
        return Process(contender.name, command + (options or []), log, environment, on_orphaned="TERM")

    def collector(self) -> Collector:
        """A running collector of spans, which `with` stops."""
        return Collector(
            SOURCES / "target/nginx.conf.in", self.run_directory / "collector",
            free_port({self.nginx.port, self.stamps.port}))

    def meter(self, database: "Database", *workers: Process) -> Meter:
        """A meter of these workers, the cluster and nginx."""
        return Meter(
            [worker.pid for worker in workers], self.cluster.pid, self.nginx.pid, database.session.info.backend_pid)


class Database:
    """One run's database. Its session stays open through the run, because the postmaster's CPU time would include
    a closed session."""

    def __init__(self, url: str, session: psycopg.Connection, contender: Contender):
        self.url, self.session, self._contender = url, session, contender
        self._finished, self._kept = self.value(contender.finished_sql), self.value(contender.kept_sql)

    def value(self, query: str, *parameters: object):
        """The only value of a query's only row."""
        row = self.session.execute(query, parameters or None).fetchone()
        assert row
        return row[0]

    def settle(self) -> None:
        """Writes statistics, visibility map and dirty pages, so that the database is like one in use for a while."""
        self.session.execute("vacuum analyze")
        self.session.execute("checkpoint")

    def wal_position(self) -> str:
        """The end of the WAL now."""
        return self.value("select pg_current_wal_insert_lsn()::text")

    def wal_bytes_since(self, position: str) -> int:
        """The bytes of WAL since `position`."""
        return int(self.value("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s::pg_lsn)", position))

    def worker_sessions(self) -> list[int]:
        """The backends of this database, without this session."""
        rows = self.session.execute(
            "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and backend_type = 'client backend'")
        return [row[0] for row in rows]

    def await_finished(self, wanted: int, worker: Process, limit_s: float = 60, every_s: float = 0.005) -> int:
        """Waits until `wanted` jobs of this run have stored results, and returns their number, which may be higher."""
        deadline = time.monotonic() + limit_s
        while (finished := self.finished()) < wanted:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{worker.name}: {finished} of {wanted} results after {limit_s:.0f} s")
            worker.check()
            time.sleep(every_s)
        return finished

    def finished(self) -> int:
        """Jobs of this run that are finished with their results stored."""
        return self.value(self._contender.finished_sql) - self._finished

    def kept(self) -> int:
        """Results of this run with status 200 and a whole body."""
        return self.value(self._contender.kept_sql) - self._kept
