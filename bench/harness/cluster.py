# SPDX-License-Identifier: Apache-2.0
"""A private PostgreSQL cluster with durable settings and only a Unix socket. The benchmark removes it at its end."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

from harness.process import Process

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{sockets}'
max_connections = {connections}
shared_buffers = {shared_buffers}
max_wal_size = {max_wal_size}
checkpoint_timeout = 60min
fsync = on
synchronous_commit = on
full_page_writes = on
autovacuum = on
log_min_messages = warning
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.track = none
"""
GIB = 1 << 30


def server_programs() -> Path:
    """The directory of initdb and postgres: PGBIN if set, otherwise Debian's newest version, otherwise from PATH."""
    if "PGBIN" in os.environ:
        return Path(os.environ["PGBIN"])
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    found = installed[-1] if installed else shutil.which("initdb")
    if not found:
        raise SystemExit("bench: no initdb found; install PostgreSQL 15 or newer, or set PGBIN")
    return Path(found).parent


class Cluster:
    """Owns the server, its data (under /var/tmp, which is a disk) and its socket (under /tmp, for a short path)."""

    def __init__(self, connections: int) -> None:
        self._programs, self._connections = server_programs(), connections
        # The server refuses to run as root.
        self._user = "postgres" if os.geteuid() == 0 else None
        self._home = Path(tempfile.mkdtemp(prefix="postrider-bench-", dir="/var/tmp"))
        self._sockets = Path(tempfile.mkdtemp(prefix="prb-", dir="/tmp"))
        self._server: Process | None = None

    def __enter__(self) -> "Cluster":
        try:
            self._create()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.stop()
        for directory in (self._home, self._sockets):
            shutil.rmtree(directory, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        assert self._server
        return self._server.pid

    def url(self, database: str) -> str:
        """A connection URL that libpq, asyncpg and the worker all understand."""
        return f"postgresql://postgres@/{database}?host={self._sockets}&port=5432"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """An autocommit session without parallel workers, so its one process has all its CPU time."""
        return psycopg.connect(
            self.url(database), autocommit=True, application_name="bench",
            options="-c max_parallel_workers_per_gather=0")

    def drop(self, database: str) -> None:
        """Removes the database and ends all its sessions."""
        with self.connect() as session:
            session.execute(f'drop database if exists "{database}" with (force)')

    def create(self, database: str, template: str = "template0") -> None:
        """Makes the database, and removes an earlier one of this name."""
        self.drop(database)
        with self.connect() as session:
            session.execute(f'create database "{database}" template "{template}"')

    def _create(self) -> None:
        if self._user:
            for directory in (self._home, self._sockets):
                shutil.chown(directory, self._user, self._user)
        become = ["setpriv", "--reuid", self._user, "--regid", self._user, "--init-groups"] if self._user else []
        subprocess.run(
            [*become, self._programs / "initdb", "-D", self._home / "data", "-U", "postgres", "-A", "trust",
             "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
            check=True, stdout=subprocess.DEVNULL, cwd="/")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        free = shutil.disk_usage(self._home).free
        with open(self._home / "data" / "postgresql.conf", "a") as conf:
            conf.write(SETTINGS.format(
                connections=self._connections,
                sockets=self._sockets,
                shared_buffers="1GB" if memory > 4 * GIB else "256MB",
                max_wal_size="16GB" if free > 40 * GIB else "4GB"))

    def _start(self) -> None:
        # SIGINT is PostgreSQL's fast shutdown: it ends open sessions and does not wait for them.
        self._server = Process(
            "postgres", [str(self._programs / "postgres"), "-D", str(self._home / "data")], self._log(),
            user=self._user, on_orphaned="INT", stop_signal=signal.SIGINT)
        deadline = time.monotonic() + 30
        while True:
            self._server.check()
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _log(self) -> Path:
        return self._home / "server.log"
