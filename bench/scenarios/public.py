# SPDX-License-Identifier: Apache-2.0
"""Public: how does the queue behave in the phases of the public comparison of PostgreSQL job queues?"""

import argparse
import statistics
import time
from pathlib import Path

from contenders import Contender
from harness.targets import free_port
from harness.workbench import Database, Workbench
from public.page import write_tables
from public.phases import PHASES, Phase, Run
from public.replica import Replica
from scenarios.scenario import Figure, Scenario

DRAIN_LIMIT_S = 60
DRAIN_CHECK_S = 0.25
BUSY_CHECK_S = 2
DEAD_ROWS = "select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables"


class Public(Scenario):
    """Runs the adapter through the phases, then stops the producer and waits for the remaining jobs.

    Latencies come from the adapter's lines. Counts come from the tables of the queue, because an adapter that is
    killed prints no last line.
    """

    name = "public"
    in_all = False

    def __init__(self, options: argparse.Namespace):
        super().__init__(options)
        self._rates = list(dict.fromkeys(options.rate or [800]))
        self.figures = [figure for rate in self._rates for figure in _figures(f"{rate}/s: ")]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=15, help="seconds per phase")
        parser.add_argument("--rate", type=_rates, metavar="N,N",
                            help="jobs per second, several in turn; default 800")
        parser.add_argument("--work", type=int, default=1, metavar="MS", help="how long the target works on a job")
        parser.add_argument("--page", type=Path, help="a page of the docs whose tables are replaced by the figures")

    def fits(self, contender: Contender) -> bool:
        return bool(contender.event_tables)

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        return {f"{rate}/s: {key}": value for rate in self._rates
                for key, value in self._measure(bench, contender, rate).items()}

    def _measure(self, bench: Workbench, contender: Contender, rate: int) -> dict[str, object]:
        """All phases at one rate, in a fresh database."""
        found: dict[str, object] = {"busy_before": _busy_share() * 100}
        rate_file = bench.run_directory / f"{contender.name}.rate"
        rate_file.write_text(str(rate))
        with bench.database(contender) as database:
            database.settle()
            replica = Replica(contender.name, {
                "DATABASE_URL": database.url, "SCENARIO": "long_horizon", "PRODUCER_MODE": "fixed",
                "PRODUCER_RATE": str(rate), "PRODUCER_RATE_CONTROL_FILE": str(rate_file),
                "PRODUCER_PACING": "adapter", "WORKER_COUNT": str(self.options.concurrency),
                "JOB_WORK_MS": str(self.options.work), "JOB_PAYLOAD_BYTES": "256", "SAMPLE_EVERY_S": "1",
                "POSTRIDER_BENCH_WINDOW_S": "1", "POSTRIDER_BENCH_PORT": str(free_port(set())),
            }, bench.run_directory / f"{contender.name}.adapter.log")
            with replica:
                run = Run(bench.cluster, database.session.info.dbname, contender, replica, rate_file,
                          rate, self.options.seconds)
                for phase in PHASES:
                    values = self._phase(run, phase, database)
                    found |= {f"{phase.name}: {key}": value for key, value in values.items()}
                rate_file.write_text("0")
                found |= _drain(contender, database) | run.counts
                found["worker_ends"] = sum(replica.values("worker_restarts", 0))
        return found

    def publish(self, records: list[dict[str, object]], machine: str) -> None:
        if self.options.page:
            write_tables(self.options.page, records, machine, self._rates, self.options)

    def _phase(self, run: Run, phase: Phase, database: Database) -> dict[str, float]:
        """Counts before and after the phase, and reads the samples in between."""
        started, before = time.monotonic(), database.value(run.contender.succeeded_sql)
        with phase.disturb(run):
            time.sleep(self.options.seconds)
            dead = database.value(DEAD_ROWS)
        run.replica.check()
        ended, after = time.monotonic(), database.value(run.contender.succeeded_sql)
        return {
            "per_s": (after - before) / (ended - started),
            "p50_ms": statistics.median(_of_calls(run, "claim_p50_ms", started) or [0]),
            "p99_ms": max(_of_calls(run, "claim_p99_ms", started) or [0]),
            "waiting": (run.replica.values("queue_depth", started) or [0])[-1],
            "dead_rows": dead,
        }


def _of_calls(run: Run, metric: str, started: float) -> list[float]:
    """A percentile of each second of the phase in which a call arrived. The first second belongs partly to the phase
    before."""
    return [value for value in run.replica.values(metric, started + 1) if value > 0]


def _figures(text: str) -> list[Figure]:
    """The lines of one rate. `text` begins each key and label."""
    kinds = (("per_s", "jobs succeeded per second"), ("p50_ms", "p50, ms"), ("p99_ms", "p99, ms"),
             ("dead_rows", "dead rows at the end"))
    parts = [(f"{phase.name}: {key}", f"{phase.name}: {label}")
             for phase in PHASES if phase.is_shown for key, label in kinds]
    parts += [("added", "jobs in all"), ("left", "jobs without a success at the end"),
              ("drain_s", "seconds from the last INSERT to the last success"),
              ("worker_ends", "times the worker ended by itself"),
              ("busy_before", "CPU of other programs before the run, % of the machine")]
    return [Figure(text + key, text + label, compare=False) for key, label in parts]


def _rates(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _drain(contender: Contender, database: Database) -> dict[str, float]:
    """Waits until each job has succeeded, at most a minute."""
    time.sleep(DRAIN_CHECK_S)  # the producer reads its rate before each INSERT
    started = time.monotonic()
    while True:
        added, succeeded = database.value(contender.added_sql), database.value(contender.succeeded_sql)
        took = time.monotonic() - started
        if succeeded >= added or took > DRAIN_LIMIT_S:
            return {"added": added, "left": added - succeeded, "drain_s": took}
        time.sleep(DRAIN_CHECK_S)


def _busy_share() -> float:
    """The share of the machine's CPU that is in use over two seconds. No program of the benchmark works then."""
    first = _cpu_times()
    time.sleep(BUSY_CHECK_S)
    used = [after - before for before, after in zip(first, _cpu_times())]
    idle = used[3] + used[4]  # idle and waiting for a disk
    return 1 - idle / max(1, sum(used))


def _cpu_times() -> list[int]:
    with open("/proc/stat") as file:
        return [int(number) for number in file.readline().split()[1:9]]
