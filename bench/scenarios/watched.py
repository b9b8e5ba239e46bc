# SPDX-License-Identifier: Apache-2.0
"""Watched: what does it cost the rate that people watch the dashboard, and that metrics and traces are on?"""

import argparse
import http.client
import threading
import time
from contextlib import ExitStack, contextmanager
from collections.abc import Iterator
from statistics import fmean

from contenders import Contender
from harness import drained
from harness.targets import Collector, free_port
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario

TABS = ["/", "/jobs", "/failures", "/queues", "/services"]
RENEWAL_S = 5  # dashboard.js
SCRAPE_S = 5  # three times as often as Prometheus by default
WAYS = ["plain", "tabs", "metrics", "sampled", "traced"]
TRACES = {"sampled": "carried", "traced": "always"}
# One job in twenty carries the context of a caller that records its trace.
LOAD_SAMPLED_SQL = """
insert into postrider.jobs (url, traceparent)
select %(url)s::text, case when i %% 20 = 0 then format('00-%%s-00f067aa0ba902b7-01', md5(i::text)) end
from generate_series(1, %(count)s) i"""


class Watched(Scenario):
    """Drains a queue in several ways in turn: without --http, beside five open tabs, beside a scraper, and with spans.

    A tab renews its page every five seconds, as the script of the dashboard does. No browser runs, because it would take
    its share of the same cores. A traced job has a span of its own and one of its attempt. The jobs are 5 % of all
    (`sampled`, by contexts that they carry) or all (`traced`, by `--trace always`). A round goes through the ways there
    and back, so that a machine that gets slower affects all of them. The next round begins with another way.
    """

    name = "watched"
    in_all = False

    def __init__(self, options: argparse.Namespace):
        super().__init__(options)
        self._round = 0
        ways = options.ways
        self.figures = [
            Figure("plain_jobs_per_s", "nobody watches: jobs/s", compare=False),
            *(Figure(f"{way}_to_plain", f"{way} ÷ plain: jobs/s", compare=False) for way in ways[1:]),
            *(Figure(f"{way}_cpu_us_per_job", f"{way}: CPU µs/job, worker + PostgreSQL", compare=False)
              for way in ways),
            Figure("tabs_pages", "tabs: pages fetched", compare=False),
            Figure("tabs_page_ms", "tabs: longest wait for a page, ms", compare=False),
            Figure("metrics_pages", "metrics: scrapes", compare=False),
            *(Figure(f"{way}_requests", f"{way}: requests to the collector", compare=False)
              for way in ways if way in TRACES),
        ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=200_000, help="queued before the worker starts")
        parser.add_argument("--ways", type=_ways, default=WAYS, metavar="A,B", help=f"of {','.join(WAYS)}")

    def fits(self, contender: Contender) -> bool:
        return contender.name == "postrider"

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        ways = self.options.ways
        turn = self._round % len(ways)
        self._round += 1
        there = ways[turn:] + ways[:turn]
        drains: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
        for way in there + there[::-1]:
            drains[way].append(self._drain(bench, contender, way))
        # Both drains of a way have the same number of jobs, so the mean of their seconds gives the rate of both.
        found = {f"{way}_{key}": (max if key == "page_ms" else fmean)(drain[key] for drain in both)
                 for way, both in drains.items() for key in both[0]}
        for way in ways:
            found[f"{way}_jobs_per_s"] = self.options.jobs / found[f"{way}_seconds"]
            found[f"{way}_to_plain"] = found["plain_seconds"] / found[f"{way}_seconds"]
        return found

    def _drain(self, bench: Workbench, contender: Contender, way: str) -> dict[str, float]:
        jobs = self.options.jobs
        paths, every_s = {"tabs": (TABS, RENEWAL_S), "metrics": (["/metrics"], SCRAPE_S)}.get(way, ([], 1))
        with ExitStack() as stack:
            database = stack.enter_context(bench.database(contender))
            load_sql = LOAD_SAMPLED_SQL if way == "sampled" else contender.load_sql
            database.session.execute(load_sql, {"url": bench.nginx.base_url + "/call", "count": jobs})
            database.settle()
            options, environment = [], {}
            collector = stack.enter_context(bench.collector()) if way in TRACES else None
            if collector:
                options += ["--trace", TRACES[way]]
                environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.base_url
            address = f"127.0.0.1:{free_port(set())}"
            if paths:
                options += ["--http", address]
            before = bench.nginx.requests()
            worker = stack.enter_context(
                bench.worker(contender, database, self.options.concurrency, options=options, environment=environment))
            waits: list[float] = []
            usage, _ = drained.measure(
                bench, database, [worker], jobs, before, meanwhile=readers(address, paths, every_s, waits))
            found = {
                "seconds": usage.seconds,
                "cpu_us_per_job": (usage.worker + usage.postgres) / jobs * 1e6,
                "worker_cpu_us_per_job": usage.worker / jobs * 1e6,
                "other_cpu_percent": usage.other / usage.seconds * 100,
            }
            if paths:
                found |= {"pages": len(waits), "page_ms": max(waits) * 1e3}
            if collector:
                found["requests"] = collector.requests()
            return found


@contextmanager
def readers(address: str, paths: list[str], every_s: float, waits: list[float]) -> Iterator[None]:
    """One reader per path, until `with` ends. Adds each wait in seconds to `waits`.

    The readers start one after the other, as people open tabs, and each reads its page again after `every_s`.
    """
    faults: list[BaseException] = []
    ended = threading.Event()

    def read(path: str, delay_s: float) -> None:
        try:
            connection = http.client.HTTPConnection(address, timeout=60)
            planned = time.monotonic() + delay_s
            while not ended.wait(max(0, planned - time.monotonic())):
                start = time.monotonic()
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"{path} answered {answer.status}")
                waits.append(time.monotonic() - start)
                planned += every_s
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=read, args=(path, every_s * number / len(paths)), daemon=True)
               for number, path in enumerate(paths)]
    for thread in threads:
        thread.start()
    yield
    ended.set()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def _ways(text: str) -> list[str]:
    """`plain` comes first, because the others are compared with it."""
    wanted = text.split(",")
    if unknown := [way for way in wanted if way not in WAYS]:
        raise argparse.ArgumentTypeError(f"{','.join(unknown)}: not one of {', '.join(WAYS)}")
    return [way for way in WAYS if way in wanted or way == "plain"]
