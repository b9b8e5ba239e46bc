#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adapter.py [SYSTEM]: one replica of a job queue for the public harness. Its variables come in, JSON lines go out.

SYSTEM is postrider (the default), pgqueuer or procrastinate. Standard output has only JSON lines; standard error has
the logs. README.md beside this file shows the use.
"""

import asyncio
import json
import signal
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from contenders import CONTENDERS, Contender  # noqa: E402
from public.latencies import Latencies  # noqa: E402
from public.producer import Producer  # noqa: E402
from public.settings import Settings  # noqa: E402
from public.target import Target  # noqa: E402

try:
    from uvloop import run as run_loop
except ImportError:  # the tests run without it
    from asyncio import run as run_loop

REPOSITORY = Path(__file__).resolve().parents[2]
WORKER_RESTART_S = 1
WORKER_STOP_S = 3.5  # the harness gives the whole adapter 5 s
DEPTH_EVERY_S = {"fixed": 1.0, "depth-target": 0.2}


class Worker:
    """The worker process of the queue. It is started again one second after it ends, as a service manager does. The
    kernel kills it if the adapter is killed."""

    def __init__(self, command: list[str]):
        self.restarts = 0
        self._command = ["setpriv", "--pdeathsig", "KILL", "--", *command]
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Keeps the worker running until this task is cancelled."""
        while True:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr)
            code = await self._process.wait()
            self.restarts += 1
            print(f"adapter: the worker ended with {code}; it is started again", file=sys.stderr)
            await asyncio.sleep(WORKER_RESTART_S)

    async def stop(self) -> None:
        """Lets the worker finish its jobs, at most 3.5 s."""
        if not self._process or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), WORKER_STOP_S)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()


class Adapter:
    """A producer, a worker and a target, with a line per metric every few seconds."""

    def __init__(self, contender: Contender, settings: Settings):
        self._contender, self._settings = contender, settings
        self._latencies = Latencies(settings.window_s)
        self._target = Target(settings.port, self._latencies)
        self._worker = Worker(contender.command(settings.database, settings.concurrency))
        self._producer = Producer(
            settings, contender.insert_many_sql, self._target.url, lambda: self._depth)
        self._depth = 0
        self._last = (time.monotonic(), 0, 0, 0)  # when, inserted, answered, restarts

    def prepare(self) -> None:
        """Installs the queue by its own command, unless its tables exist."""
        with psycopg.connect(self._settings.database, autocommit=True) as session:
            table = session.execute("select to_regclass(%s)", (self._contender.event_tables[0],)).fetchone()
        if table == (None,):
            self._contender.prepare(self._settings.database)

    def describe(self) -> None:
        """Prints the descriptor, the first line that the harness waits for."""
        with psycopg.connect(self._settings.database) as session:
            database, server = session.execute(
                "select current_database(), current_setting('server_version')").fetchone()
        version = self._contender.version()
        self._print({
            "kind": "descriptor", "event_tables": list(self._contender.event_tables), "extensions": [],
            "version": version, "schema_version": version, "db_name": database, "server_version": server,
            "started_at": _now()})

    async def run(self) -> None:
        """Runs until SIGTERM or SIGINT."""
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        server = await self._target.start()
        running = asyncio.create_task(self._worker.run())
        others = [asyncio.create_task(part) for part in (self._producer.run(), self._watch_depth(), self._sample())]
        # A part that fails ends the adapter, so that the harness sees it. The producer may end, at the end of its input.
        for task in [running, *others]:
            task.add_done_callback(lambda task: ended.set() if task.cancelled() or task.exception() else None)
        await ended.wait()
        for task in [running, *others]:
            task.cancel()
        outcomes = await asyncio.gather(running, *others, return_exceptions=True)
        await self._worker.stop()
        self._print_sample()
        server.close()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    async def _watch_depth(self) -> None:
        """Counts waiting jobs in a session of its own. Only replica 0 does, because the count is the same for all."""
        session: psycopg.AsyncConnection | None = None
        while self._settings.instance == 0 or self._settings.mode == "depth-target":
            try:
                if not session:
                    session = await psycopg.AsyncConnection.connect(self._settings.database, autocommit=True)
                cursor = await session.execute(self._contender.depth_sql)
                self._depth = int((await cursor.fetchone() or [0])[0])
            except psycopg.Error as error:
                print(f"adapter: the depth could not be read: {error}", file=sys.stderr)
                if session:
                    await session.close()
                    session = None
            await asyncio.sleep(DEPTH_EVERY_S[self._settings.mode])
        await asyncio.Event().wait()

    async def _sample(self) -> None:
        """Prints at multiples of SAMPLE_EVERY_S of the wall clock, so that all systems are sampled at the same time."""
        every = self._settings.sample_s
        while True:
            await asyncio.sleep(every - time.time() % every)
            self._print_sample()

    def _print_sample(self) -> None:
        now, inserted, answered = time.monotonic(), self._producer.inserted, self._target.answered
        before, inserted_before, answered_before, restarts_before = self._last
        self._last = (now, inserted, answered, self._worker.restarts)
        took = max(0.001, now - before)
        p50, p95, p99 = self._latencies.quantiles_ms([0.50, 0.95, 0.99])
        metrics: list[tuple[str, float, float]] = [
            ("claim_p50_ms", p50, self._settings.window_s),
            ("claim_p95_ms", p95, self._settings.window_s),
            ("claim_p99_ms", p99, self._settings.window_s),
            ("enqueue_rate", (inserted - inserted_before) / took, self._settings.sample_s),
            ("completion_rate", (answered - answered_before) / took, self._settings.sample_s),
            ("worker_restarts", self._worker.restarts - restarts_before, self._settings.sample_s)]
        if self._settings.instance == 0:
            rate = self._settings.current_rate() if self._settings.mode == "fixed" else 0
            metrics += [("queue_depth", self._depth, 0), ("producer_target_rate", rate, 0)]
        at = _now()
        for metric, value, window in metrics:
            self._print({"t": at, "kind": "adapter", "subject_kind": "adapter", "subject": "", "metric": metric,
                         "value": round(float(value), 3), "window_s": float(window)})

    def _print(self, record: dict[str, object]) -> None:
        print(json.dumps({"system": self._contender.name, "instance_id": self._settings.instance, **record}),
              flush=True)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def main() -> None:
    """Runs one lifecycle mode of the harness: migrate_only or long_horizon."""
    name = sys.argv[1] if len(sys.argv) > 1 else "postrider"
    if name not in CONTENDERS or not CONTENDERS[name].event_tables:
        raise SystemExit(f"adapter: there is no system {name}")
    settings = Settings.from_environment()
    if settings.scenario not in ("migrate_only", "long_horizon"):
        raise SystemExit(f"adapter: SCENARIO is {settings.scenario}; it must be migrate_only or long_horizon")
    adapter = Adapter(CONTENDERS[name](REPOSITORY, REPOSITORY / ".postrider/bench"), settings)
    adapter.prepare()
    if settings.scenario == "long_horizon":
        adapter.describe()
        run_loop(adapter.run())


if __name__ == "__main__":
    main()
