# SPDX-License-Identifier: Apache-2.0
"""Clients that insert jobs, one for each transaction, and note when the commit was acknowledged."""

import threading
import time
from dataclasses import dataclass, field

import psycopg

STATEMENT = """
insert into postrider.jobs (method, url, tag, delivery, run_at)
values ('POST', %s, %s, %s, now() + make_interval(secs => %s))
"""
PERIOD_S = 0.05
# One job of four waits in `scheduled`, so that some are claimed later than they were inserted.
DELAY_S = 2.0


@dataclass
class Insert:
    """One INSERT. `acknowledged` is None if the client does not know whether it was committed."""

    tag: str
    at_most_once: bool
    delayed: bool
    path: str
    began: float
    acknowledged: float | None = None


@dataclass
class Client:
    """Inserts a job each 50 ms. After an error it connects again and goes on with the next job."""

    name: str
    path: str
    database: str
    target: str
    inserts: list[Insert] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops after the INSERT under way."""
        self._stop.set()
        if self._thread:
            self._thread.join(60)

    def last_acknowledged(self) -> float:
        """When the last commit was acknowledged; 0 before the first."""
        return next((i.acknowledged for i in reversed(self.inserts) if i.acknowledged), 0.0)

    def _run(self) -> None:
        session: psycopg.Connection | None = None
        while not self._stop.wait(PERIOD_S):
            try:
                if session is None or session.closed:
                    session = psycopg.connect(self.database, autocommit=True, application_name=self.name)
                self._insert(session)
            except psycopg.Error as error:
                kind = error.sqlstate or "connection"
                self.errors[kind] = self.errors.get(kind, 0) + 1
                if session:
                    session.close()
                session = None
        if session:
            session.close()

    def _insert(self, session: psycopg.Connection) -> None:
        number = len(self.inserts)
        insert = Insert(f"{self.name}-{number}", number % 2 == 1, number % 8 in (2, 3), self.path, time.monotonic())
        self.inserts.append(insert)
        session.execute(STATEMENT, (
            f"{self.target}/{'once' if insert.at_most_once else 'often'}/{insert.tag}", insert.tag,
            "at_most_once" if insert.at_most_once else "at_least_once",
            DELAY_S if insert.delayed else 0))
        insert.acknowledged = time.monotonic()
