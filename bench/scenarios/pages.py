# SPDX-License-Identifier: Apache-2.0
"""Pages: how long does each page of the dashboard take next to ten million jobs?"""

import argparse
import http.client
import os
import statistics
import sys
import time
from base64 import b64encode
from contextlib import ExitStack
from pathlib import Path

from contenders import Contender
from harness.meter import running_ms
from harness.process import Process
from harness.targets import free_port
from harness.workbench import Database, Workbench
from pages.addresses import Address, addresses
from pages.block import HAS_ENDED, Block
from pages.present import await_true, insert_jobs, insert_settings
from pages.table import HEAD, is_slow, text_line, write_table
from scenarios.scenario import Figure, Scenario

LIMIT_MS = 150
TOKEN = "0123456789abcdef0123"
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
START_LIMIT_S = 20
# The worker's loop ends no transaction by a statement of its own.
PAGE_SESSIONS = ("select pid from pg_stat_activity"
                 " where datname = current_database() and query in ('commit', 'rollback')")
PAUSE_S = 0.02  # between requests, so that the worker's own sessions get their turn


class Pages(Scenario):
    """Fills a database, then requests each page several times.

    Real calls for ten million jobs take an hour, so most ended jobs are copies: a block of ten thousand jobs is
    inserted and called, and then copied within the internal tables (`pages.block`). Jobs that have not ended come from
    public INSERTs.

    The time is that of the whole request on loopback. An address is slow if its median is above 150 ms; then the
    program ends with 1.
    """

    name = "pages"
    in_all = False
    figures = [
        Figure("pages", "addresses requested", compare=False),
        Figure("median_ms", "median of all medians, ms", compare=False),
        Figure("slowest_ms", "highest median, ms", compare=False),
        Figure("slow", f"addresses with a median above {LIMIT_MS} ms", compare=False),
        Figure("size_gb", "size of the database, GB", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=10_000_000, help="ended jobs")
        parser.add_argument("--lanes", type=int, default=1_000, help="lanes, at least 100")
        parser.add_argument("--waiting", type=int, default=300_000, help="ready jobs, and two thirds as many scheduled")
        parser.add_argument("--requests", type=int, default=7, help="requests of each address after the first one")
        parser.add_argument("--page", type=Path, help="a page of the docs whose table is replaced by the figures")
        parser.add_argument("--wait", action="store_true", help="at the end, wait for the Enter key with all running")

    def fits(self, contender: Contender) -> bool:
        return contender.name == "postrider"

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        with bench.database(contender) as database, ExitStack() as stack:
            self._fill(bench, contender, database)
            port = free_port(set())
            worker = stack.enter_context(self._worker(bench, contender, database, port))
            self._add_present(bench, database, worker)
            size = database.value("select pg_database_size(current_database())")
            _say(f"{size / 1e9:.1f} GB")
            load = os.getloadavg()[0]
            rows = self._measure(_Client(port, worker, database), addresses(database.session))
            if self.options.wait:
                input(f"bench: {database.url} http://ada:{TOKEN}@127.0.0.1:{port}/ ")
        medians = sorted(row["median_ms"] for row in rows)
        return {
            "jobs": self.options.jobs, "lanes": self.options.lanes, "waiting": self.options.waiting, "load": load,
            "rows": rows,
            "pages": len(rows), "median_ms": medians[len(medians) // 2], "slowest_ms": medians[-1],
            "slow": sum(is_slow(row, LIMIT_MS) for row in rows), "size_gb": size / 1e9,
        }

    def publish(self, records: list[dict[str, object]], machine: str) -> None:
        if self.options.page and records:
            write_table(self.options.page, records[-1], machine, self.options, LIMIT_MS)
        slow = max((record["slow"] for record in records), default=0)
        if slow:
            raise SystemExit(f"bench: {slow} pages take longer than {LIMIT_MS} ms, or fail")

    def _measure(self, client: "_Client", wanted: list[Address]) -> list[dict[str, object]]:
        """The figures of each address, which are also printed one by one."""
        rows = []
        print(HEAD, file=sys.stderr)
        for address in wanted:
            rows.append(client.measure(address, self.options.requests))
            print(text_line(rows[-1], LIMIT_MS), file=sys.stderr, flush=True)
        return rows

    def _fill(self, bench: Workbench, contender: Contender, database: Database) -> None:
        block = Block(database.session)
        with bench.worker(contender, database, self.options.concurrency) as worker:
            block.insert(bench.nginx.base_url, bench.stamps.base_url, self.options.lanes)
            await_true(database.session, HAS_ENDED, worker.check)
        block.keep()
        _say(f"a block of {block.jobs:,} jobs, to be copied")
        block.copy(self.options.jobs, lambda: None)

    def _add_present(self, bench: Workbench, database: Database, worker: Process) -> None:
        insert_settings(database.session, bench.nginx.base_url, self.options.lanes)
        insert_jobs(database.session, bench.nginx.base_url, bench.stamps.base_url, self.options.lanes,
                    self.options.waiting, worker.check)
        _say("vacuum analyze")
        database.settle()

    def _worker(self, bench: Workbench, contender: Contender, database: Database, port: int) -> Process:
        """A worker with the dashboard and its acts. It does not take the queue `bulk`, whose jobs stay ready."""
        token, key = bench.run_directory / "token", bench.run_directory / "key"
        token.write_text(TOKEN)
        key.write_text(KEY)
        for file in (token, key):
            file.chmod(0o600)
        queues = [word for name in ("default", "mail", "reports", "archive") for word in ("--queue", name)]
        command = contender.command(database.url, self.options.concurrency) + queues + [
            "--http", f"127.0.0.1:{port}", "--http-token-file", str(token), "--http-actions",
            "--secret-key-file", str(key)]
        return Process("worker with pages", command, bench.run_directory / "pages.log", on_orphaned="TERM")


class _Client:
    """Requests pages over one kept connection, as a browser does.

    CPU time is that of the worker and of the sessions of its pages. Other programs of the machine add to the time of a
    request, but much less to its CPU time.
    """

    def __init__(self, port: int, worker: Process, database: Database):
        self._worker, self._database = worker, database
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Authorization": "Basic " + b64encode(f"ada:{TOKEN}".encode()).decode()}
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                self._request("/readyz")
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                self._connection.close()
                time.sleep(0.1)

    def measure(self, address: Address, times: int) -> dict[str, object]:
        """The first time, and median and maximum of the others, in ms. A failure ends the requests of the address."""
        taken, cpu = [], []
        for _ in range(times + 1):
            before = self._cpu_ms()
            ms, status, size = self._request(address.path)
            cpu.append(self._cpu_ms() - before)
            taken.append(ms)
            if status != 200:
                break
            time.sleep(PAUSE_S)
        warm = taken[1:] or taken
        return {"group": address.group, "page": address.label, "path": address.path, "first_ms": taken[0],
                "median_ms": statistics.median(warm), "max_ms": max(warm), "cpu_ms": statistics.median(cpu),
                "bytes": size, "status": status}

    def _cpu_ms(self) -> float:
        sessions = [pid for pid, in self._database.session.execute(PAGE_SESSIONS)]
        return sum(running_ms(thread) for pid in (self._worker.pid, *sessions)
                   for thread in map(int, os.listdir(f"/proc/{pid}/task")))

    def _request(self, path: str) -> tuple[float, int, int]:
        started = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        size = len(answer.read())
        return (time.perf_counter() - started) * 1e3, answer.status, size


def _say(text: str) -> None:
    print(f"bench: pages: {text}", file=sys.stderr)
