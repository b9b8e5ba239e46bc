# SPDX-License-Identifier: Apache-2.0
"""The phases of the public comparison, with its numbers: what disturbs the queue, and for how long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from contenders import Contender
from harness.cluster import Cluster
from public.replica import Replica

READERS = 4
READER_PAUSE_S = 0.1
LOAD_FACTOR = 1.5
KILLS_IN_A_PHASE = 3  # the last one would fall on the end of the phase, so two happen
RESTART_S = 1.0
BACKEND_KILLS_PER_S = 2
IDLE_SESSIONS = 300
PATIENCE_S = 40  # a restart that has begun is waited for


@dataclass
class Run:
    """A measured system, and counts of what was done to it."""

    cluster: Cluster
    database: str
    contender: Contender
    replica: Replica
    rate_file: Path
    rate: int
    seconds: float
    counts: dict[str, int] = field(default_factory=lambda: {"kills": 0, "backend_kills": 0, "idle_sessions": 0})


@dataclass(frozen=True)
class Phase:
    """A name for the table, and what happens during the phase. The comparison excludes its warm-up from the tables."""

    name: str
    disturb: Callable[[Run], AbstractContextManager[object]]
    is_shown: bool = True


def _undisturbed(_: Run) -> AbstractContextManager[object]:
    return nullcontext()


@contextmanager
def _held_transaction(run: Run) -> Iterator[None]:
    """One session with a transaction id that stays in its transaction. So vacuum removes no dead row."""
    with psycopg.connect(run.cluster.url(run.database)) as session:
        session.execute("select txid_current()")
        yield


@contextmanager
def _active_readers(run: Run) -> Iterator[None]:
    """Sessions that count the table of jobs again and again, each in one REPEATABLE READ transaction."""
    def read(stopped: threading.Event) -> None:
        with psycopg.connect(run.cluster.url(run.database)) as session:
            session.execute("set transaction isolation level repeatable read")
            while not stopped.wait(READER_PAUSE_S):
                session.execute(f"select count(*) from {run.contender.event_tables[0]}")

    with _threads(read, READERS):
        yield


@contextmanager
def _high_load(run: Run) -> Iterator[None]:
    """Half as many jobs again."""
    run.rate_file.write_text(str(run.rate * LOAD_FACTOR))
    try:
        yield
    finally:
        run.rate_file.write_text(str(run.rate))


@contextmanager
def _repeated_kill(run: Run) -> Iterator[None]:
    """SIGKILL to the adapter, and so to its worker. One second later they are started again."""
    def kill(stopped: threading.Event) -> None:
        while not stopped.wait(run.seconds / KILLS_IN_A_PHASE):
            run.replica.kill()
            run.counts["kills"] += 1
            time.sleep(RESTART_S)
            run.replica.start()

    with _threads(kill, 1):
        yield


@contextmanager
def _backend_kill(run: Run) -> Iterator[None]:
    """Ends the sessions that execute a statement or are in a transaction at this moment, twice a second."""
    def end(stopped: threading.Event) -> None:
        with run.cluster.connect() as session:
            while not stopped.wait(1 / BACKEND_KILLS_PER_S):
                ended = session.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
                    " and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')", (run.database,))
                run.counts["backend_kills"] += len(ended.fetchall())

    with _threads(end, 1):
        yield


@contextmanager
def _pool_exhaustion(run: Run) -> Iterator[None]:
    """Idle sessions, as many as the server lets in, at most 300 of its 400."""
    sessions: list[psycopg.Connection] = []
    try:
        while len(sessions) < IDLE_SESSIONS:
            sessions.append(psycopg.connect(run.cluster.url(run.database), autocommit=True))
    except psycopg.OperationalError:
        pass  # the server is full, which is the aim
    try:
        run.counts["idle_sessions"] = len(sessions)
        yield
    finally:
        for session in sessions:
            session.close()


@contextmanager
def _threads(body: Callable[[threading.Event], None], count: int) -> Iterator[None]:
    """Runs `body` in threads until the end of the phase, and raises the first error of one of them."""
    stopped, errors = threading.Event(), []

    def run() -> None:
        try:
            body(stopped)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join(PATIENCE_S)
    if errors:
        raise errors[0]


PHASES = [
    Phase("warm-up", _undisturbed, is_shown=False),
    Phase("clean", _undisturbed),
    Phase("idle in transaction", _held_transaction),
    Phase("active readers", _active_readers),
    Phase("high load", _high_load),
    Phase("recovery after the load", _undisturbed),
    Phase("repeated kill", _repeated_kill),
    Phase("recovery after the kills", _undisturbed),
    Phase("backend kill", _backend_kill),
    Phase("recovery after backend kills", _undisturbed),
    Phase("pool exhaustion", _pool_exhaustion),
]
