# SPDX-License-Identifier: Apache-2.0
"""INSERTs at a fixed rate. A slow database does not lower the rate: each INSERT has a planned time."""

import time
from array import array
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

import psycopg

from harness.process import Process

WARM_UP_INSERTS = 6  # per session: from the sixth on PostgreSQL may use a generic plan
START_IN_NS = 200_000_000
OVERRUN_NS = 30_000_000_000  # after the last planned time; later INSERTs are not sent
CHECK_EVERY_S = 0.5


@dataclass(frozen=True)
class Plan:
    """`rate` calls per second in INSERTs of `batch` rows, for `windows` windows of `window_s` seconds."""

    rate: int
    batch: int
    window_s: float
    windows: int

    @property
    def inserts(self) -> int:
        """The number of INSERTs."""
        return self.first_insert(self.windows)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.inserts * self.batch

    def first_insert(self, window: int) -> int:
        """The number of the first INSERT of a window."""
        return round(window * self.window_s * self.rate / self.batch)

    def offset_ns(self, insert: int) -> int:
        """The planned time of an INSERT after the start. Computed from its number, so that no error adds up."""
        return insert * self.batch * 1_000_000_000 // self.rate


class Load:
    """Sends the INSERTs of a plan. The sessions take turns, so that one slow commit does not delay the next INSERT.

    Calls go to `url` followed by the number of the call. All times are of the wall clock, as at the stamp target.
    """

    def __init__(self, sessions: list[psycopg.Connection], statement: str, url: str, plan: Plan):
        self._sessions, self._statement, self._url, self.plan = sessions, statement, url, plan
        self._start_ns = 0
        self._stopped = False
        self._sent_ns = array("q", bytes(8 * plan.inserts))

    def warm_up(self) -> int:
        """Sends INSERTs in each session, so that it has its plan. Returns the number of calls, numbered from 0 on."""
        inserts = WARM_UP_INSERTS * len(self._sessions)
        for number in range(inserts):
            self._insert(self._sessions[number % len(self._sessions)], number)
        return inserts * self.plan.batch

    def run(self, worker: Process) -> None:
        """Sends the whole plan. Raises if the worker ends or an INSERT fails."""
        self._start_ns = time.time_ns() + START_IN_NS
        with ThreadPoolExecutor(len(self._sessions)) as pool:
            pending = {pool.submit(self._send, turn) for turn in range(len(self._sessions))}
            try:
                while pending:
                    worker.check()
                    done, pending = wait(pending, CHECK_EVERY_S, FIRST_EXCEPTION)
                    for sending in done:
                        sending.result()
            finally:
                self._stopped = True

    def planned_ns(self, insert: int) -> int:
        """When an INSERT was due."""
        return self._start_ns + self.plan.offset_ns(insert)

    def sent_ns(self, insert: int) -> int:
        """When an INSERT was sent; 0: not sent."""
        return self._sent_ns[insert]

    def _send(self, turn: int) -> None:
        """Sends each INSERT of one session at its planned time, or at once if that time has passed."""
        session, last_ns = self._sessions[turn], self.planned_ns(self.plan.inserts) + OVERRUN_NS
        for number in range(turn, self.plan.inserts, len(self._sessions)):
            left_ns = self.planned_ns(number) - time.time_ns()
            if left_ns > 0:
                time.sleep(left_ns / 1e9)
            if self._stopped or time.time_ns() > last_ns:
                return
            self._sent_ns[number] = time.time_ns()
            self._insert(session, number)

    def _insert(self, session: psycopg.Connection, number: int) -> None:
        first = number * self.plan.batch
        urls = [f"{self._url}{call}" for call in range(first, first + self.plan.batch)]
        session.execute(self._statement, (urls,), prepare=True)
