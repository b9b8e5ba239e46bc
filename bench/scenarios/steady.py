# SPDX-License-Identifier: Apache-2.0
"""Steady: does the latency at a fixed rate grow while an old transaction keeps dead rows from being removed?"""

import argparse
import time
from collections import Counter
from contextlib import ExitStack

from contenders import Contender
from harness.load import Load, Plan
from harness.meter import Usage
from harness.process import Process
from harness.targets import StampTarget
from harness.workbench import Database, Workbench
from scenarios.latency import quantile
from scenarios.pinned import pin
from scenarios.scenario import Figure, Scenario

RATES = [800, 3_000]
SESSIONS = 4
WARM_UP_LIMIT_S = 30
QUIET_S = 1.5  # after it the worker is idle
LAST_ARRIVALS_S = 10
RECLAIM_LIMIT_S = 300
RECLAIM_EVERY_S = 2
# Autovacuum leaves a table alone that has fewer dead rows than its threshold. So some always stay.
RECLAIMED_PART = 0.99
DEAD_ROWS_SQL = (
    "select coalesce(sum(d.dead_tuple_count), 0)::bigint from pg_class c"
    " join pg_namespace n on n.oid = c.relnamespace cross join lateral pgstattuple(c.oid) d"
    " where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'")
CHECK_EVERY_S = 0.1


class Steady(Scenario):
    """Sends INSERTs at each rate in turn, each rate in a fresh database, and reports the latency per window.

    The latency runs from the planned time of the INSERT until the call arrives. So it includes the delay of an INSERT
    that is sent too late because the INSERTs before it were slow. A missing call counts as waiting to the end.

    Then the old transaction ends, and the clock runs until autovacuum has removed the dead rows. The worker stays.
    """

    name = "steady"
    in_all = False

    def __init__(self, options: argparse.Namespace):
        super().__init__(options)
        windows = int(options.seconds / options.window)
        rates = dict.fromkeys(options.rate or RATES)
        self._plans = [Plan(rate, options.batch, options.window, windows) for rate in rates]
        self.figures = [figure for rate in rates for figure in _figures(rate)]
        if windows < 2:
            raise SystemExit("bench: --seconds must be at least two windows")
        for plan in self._plans:
            if plan.calls > StampTarget.NUMBERS:
                raise SystemExit(f"bench: {plan.calls:,} calls; the target records at most {StampTarget.NUMBERS:,}")
            if plan.window_s * plan.rate < plan.batch:
                raise SystemExit("bench: each window needs at least one INSERT")

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rate", type=_rates, action="extend", metavar="N,N",
                            help="calls per second, several in turn; default 800,3000")
        parser.add_argument("--seconds", type=_positive(float), default=120,
                            help="how long to insert, rounded down to whole windows")
        parser.add_argument("--window", type=_positive(float), default=15, help="seconds per window")
        parser.add_argument("--batch", type=_positive(int), default=8, help="rows per INSERT")
        parser.add_argument("--held", choices=("on", "off"), default="on",
                            help="whether a transaction stays open from before the start")
        parser.add_argument("--most-p99", type=_positive(float), metavar="MS",
                            help="end with 1 if the p99 of a window is higher, or if a call is missing")

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        found: dict[str, object] = {
            "held": self.options.held, "batch": self.options.batch, "window_s": self.options.window}
        for plan in self._plans:
            windows, usage = self._measure(bench, contender, plan)
            found[f"{plan.rate}_windows"] = windows
            found |= {f"{plan.rate}_{key}": value for key, value in (_summarize(windows) | usage).items()}
        return found

    def publish(self, records: list[dict[str, object]], machine: str) -> None:
        limit = self.options.most_p99
        slow = [
            record for record in records for plan in self._plans
            if limit and (record[f"{plan.rate}_highest_p99_ms"] > limit or record[f"{plan.rate}_missing"])]
        if slow:
            raise SystemExit(f"bench: the p99 of a window is above {limit:g} ms, or a call is missing; see the table")

    def _measure(
        self, bench: Workbench, contender: Contender, plan: Plan
    ) -> tuple[list[dict[str, float]], dict[str, float]]:
        """The record of each window, the CPU time of a call, and how long the dead rows stay."""
        with bench.database(contender) as database:
            database.settle()
            with ExitStack() as stack:
                held = stack.enter_context(ExitStack())
                self._hold(bench, database, held)
                name = database.session.info.dbname
                sessions = [stack.enter_context(bench.cluster.connect(name)) for _ in range(SESSIONS)]
                load = Load(sessions, contender.insert_many_sql, f"{bench.stamps.base_url}/stamp/", plan)
                worker = stack.enter_context(bench.worker(contender, database, self.options.concurrency))
                _warm_up(bench, load, worker)
                meter = bench.meter(database, worker)
                first = meter.read()
                load.run(worker)
                _await_arrivals(bench, worker, plan.calls, LAST_ARRIVALS_S)
                ended_ns = time.time_ns()
                usage = Usage.between(first, meter.read())
                held.close()
                reclaim = _reclaim(database, worker)
            return _windows(bench, load, ended_ns), reclaim | {
                "worker_cpu_us_per_job": usage.worker / plan.calls * 1e6,
                "postgres_cpu_us_per_job": usage.postgres / plan.calls * 1e6,
            }

    def _hold(self, bench: Workbench, database: Database, stack: ExitStack) -> None:
        """Opens the old transaction, before the worker starts. It ends with `stack`."""
        if self.options.held == "on":
            pin(stack.enter_context(bench.cluster.connect(database.session.info.dbname)))


def _figures(rate: int) -> list[Figure]:
    text = f"{rate:,}/s:"
    parts = [(part, key) for part in ("first", "last") for key in ("p50", "p99", "max")]
    return [
        *(Figure(f"{rate}_{part}_{key}_ms", f"{text} {part} window, {key} ms", compare=key != "max")
          for part, key in parts),
        Figure(f"{rate}_highest_p99_ms", f"{text} highest p99 of all windows, ms"),
        Figure(f"{rate}_reached_per_s", f"{text} calls arrived per second", compare=False),
        Figure(f"{rate}_missing", f"{text} calls missing at the end", compare=False),
        Figure(f"{rate}_dead_rows", f"{text} dead rows when the transaction ends", compare=False),
        Figure(f"{rate}_reclaim_s", f"{text} s until autovacuum has removed 99 % of them", compare=False),
        Figure(f"{rate}_dead_rows_left", f"{text} dead rows that are left then", compare=False),
        Figure(f"{rate}_worker_cpu_us_per_job", f"{text} CPU µs/job, worker"),
        Figure(f"{rate}_postgres_cpu_us_per_job", f"{text} CPU µs/job, PostgreSQL with the INSERTs"),
    ]


def _warm_up(bench: Workbench, load: Load, worker: Process) -> None:
    """Waits until all calls of the warm-up have arrived, so that no number of theirs arrives later."""
    bench.stamps.clear()
    calls = load.warm_up()
    if (arrived := _await_arrivals(bench, worker, calls, WARM_UP_LIMIT_S)) < calls:
        raise TimeoutError(f"{worker.name}: {arrived} of {calls} calls within {WARM_UP_LIMIT_S} s")
    time.sleep(QUIET_S)
    bench.stamps.clear()


def _reclaim(database: Database, worker: Process) -> dict[str, float]:
    """The dead rows that the load has left, how long autovacuum takes for them, and how many are left then."""
    database.session.execute("create extension if not exists pgstattuple")
    begun = time.monotonic()
    rows = left = _dead_rows(database)
    while left > rows * (1 - RECLAIMED_PART) and time.monotonic() - begun < RECLAIM_LIMIT_S:
        worker.check()
        time.sleep(RECLAIM_EVERY_S)
        left = _dead_rows(database)
    return {"dead_rows": rows, "reclaim_s": time.monotonic() - begun, "dead_rows_left": left}


def _dead_rows(database: Database) -> int:
    row = database.session.execute(DEAD_ROWS_SQL).fetchone()
    assert row
    return row[0]


def _await_arrivals(bench: Workbench, worker: Process, wanted: int, limit_s: float) -> int:
    """Waits for `wanted` arrivals, at most `limit_s`. Returns their number."""
    deadline = time.monotonic() + limit_s
    while (arrived := bench.stamps.arrived()) < wanted and time.monotonic() < deadline:
        worker.check()
        time.sleep(CHECK_EVERY_S)
    return arrived


def _windows(bench: Workbench, load: Load, ended_ns: int) -> list[dict[str, float]]:
    """The record of each window. A call belongs to the window of its planned time."""
    plan, windows, arrived_in = load.plan, [], Counter()
    for number in range(plan.windows):
        inserts = range(plan.first_insert(number), plan.first_insert(number + 1))
        stamps = bench.stamps.arrivals(inserts.start * plan.batch, inserts.stop * plan.batch)
        arrived = {call: at for call, at in stamps.items() if at <= ended_ns}
        arrived_in.update(int((at - load.planned_ns(0)) / 1e9 / plan.window_s) for at in arrived.values())
        windows.append({"from_s": number * plan.window_s, **_window(load, inserts, arrived, ended_ns)})
    # Only now, because a window may also see late arrivals of the windows before it.
    for number, window in enumerate(windows):
        window["arrived_per_s"] = arrived_in[number] / plan.window_s
    return windows


def _window(load: Load, inserts: range, arrived: dict[int, int], ended_ns: int) -> dict[str, float]:
    """Latencies of the calls, and how much later than planned the INSERTs were sent."""
    batch = load.plan.batch
    calls = range(inserts.start * batch, inserts.stop * batch)
    waits = sorted((arrived.get(call, ended_ns) - load.planned_ns(call // batch)) / 1e6 for call in calls)
    delays = sorted(((load.sent_ns(insert) or ended_ns) - load.planned_ns(insert)) / 1e6 for insert in inserts)
    return {
        "calls": len(calls),
        "missing": len(calls) - len(arrived),
        "p50_ms": quantile(waits, 0.50),
        "p99_ms": quantile(waits, 0.99),
        "max_ms": waits[-1],
        "insert_delay_p50_ms": quantile(delays, 0.50),
        "insert_delay_p99_ms": quantile(delays, 0.99),
        "insert_delay_max_ms": delays[-1],
    }


def _summarize(windows: list[dict[str, float]]) -> dict[str, float]:
    edges = {"first": windows[0], "last": windows[-1]}
    return {
        **{f"{part}_{key}": window[key] for part, window in edges.items() for key in ("p50_ms", "p99_ms", "max_ms")},
        "highest_p99_ms": max(window["p99_ms"] for window in windows),
        "reached_per_s": sum(window["arrived_per_s"] for window in windows) / len(windows),
        "missing": sum(window["missing"] for window in windows),
    }


def _rates(text: str) -> list[int]:
    return [_positive(int)(part) for part in text.split(",")]


def _positive(kind: type):
    """A parser of numbers above 0."""
    def parse(text: str):
        number = kind(text)
        if not number > 0:
            raise argparse.ArgumentTypeError("must be above 0")
        return number
    return parse
