# SPDX-License-Identifier: Apache-2.0
"""Inserts jobs at the rate, or up to the depth, that the harness asks for."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable

import psycopg

from public.settings import Settings

RECONNECT_S = 0.2
DEPTH_CHECK_S = 0.05


class Producer:
    """Sends one INSERT per batch. Its session reconnects after an error; a failed INSERT is not repeated, because it
    may have been committed."""

    def __init__(self, settings: Settings, statement: str, target: str, depth: Callable[[], int]):
        self.inserted = 0
        self._settings, self._statement, self._depth = settings, statement, depth
        self._prefix = f"{target}/{settings.work_ms}/"
        self._number = 0
        self._session: psycopg.AsyncConnection | None = None

    async def run(self) -> None:
        """Inserts until it is cancelled, or until the harness closes standard input."""
        if self._settings.mode == "depth-target":
            counts = self._counts_by_depth()
        elif self._settings.is_paced_by_harness:
            counts = self._counts_by_tokens()
        else:
            counts = self._counts_by_clock()
        async for count in counts:
            while count > 0:
                rows = min(count, self._settings.batch_max)
                await self._insert(rows)
                count -= rows

    async def _insert(self, rows: int) -> None:
        try:
            if not self._session:
                self._session = await psycopg.AsyncConnection.connect(self._settings.database, autocommit=True)
            await self._session.execute(self._statement, (self._urls(rows),), prepare=True)
            self.inserted += rows
        except psycopg.Error as error:
            print(f"adapter: an INSERT failed: {error}", file=sys.stderr)
            if self._session:
                await self._session.close()
                self._session = None
            await asyncio.sleep(RECONNECT_S)

    def _urls(self, rows: int) -> list[str]:
        """Each URL carries the time before its INSERT is sent, and fills up to the size that the harness asks for."""
        created = time.time_ns()
        first, self._number = self._number, self._number + rows
        return [f"{self._prefix}{created}/{number}?".ljust(self._settings.payload, "x")
                for number in range(first, first + rows)]

    async def _counts_by_clock(self) -> AsyncIterator[int]:
        """Counts by the time that really passed. So a slow INSERT does not lower the rate."""
        due, last = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(max(0.0, last + self._settings.batch_s - time.monotonic()))
            now = time.monotonic()
            due += self._settings.current_rate() * (now - last)
            last = now
            yield int(due)
            due -= int(due)

    async def _counts_by_tokens(self) -> AsyncIterator[int]:
        """Counts from standard input. The harness sends its first rate even while its control file asks for more, so
        each count is multiplied by their ratio."""
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        due = 0.0
        while line := await reader.readline():
            word, _, number = line.decode().strip().partition(" ")
            if word != "ENQUEUE" or not number.isdigit():
                continue
            due += int(number) * self._settings.current_rate() / max(1, self._settings.rate)
            yield int(due)
            due -= int(due)

    async def _counts_by_depth(self) -> AsyncIterator[int]:
        """At most one batch per reading of the depth."""
        while True:
            yield max(0, min(self._settings.batch_max, self._settings.depth - self._depth()))
            await asyncio.sleep(DEPTH_CHECK_S)
