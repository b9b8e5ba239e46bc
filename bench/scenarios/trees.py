# SPDX-License-Identifier: Apache-2.0
"""Trees: what does it cost that jobs are members of batches, and how soon does a step follow the one before?"""

import argparse
import time

from contenders import Contender
from harness.workbench import Workbench
from scenarios.scenario import Figure, Scenario

EVERY_S = 0.05  # each check counts the results, so frequent checks would cost CPU time
RUN_LIMIT_S = 600
QUIET_S = 1.5  # after it the worker is idle


class Trees(Scenario):
    """Drains the same number of jobs three times, each in a fresh database: plain, in one batch, in batches of ten. Then
    runs one chain on an idle worker.

    Rates use the times in the results, from the first start to the last finish. The time to settle a batch runs from
    the result of its last member to its own result. The gap between two steps of a chain runs from one arrival at the
    target to the next, without the time of the call.
    """

    name = "trees"
    figures = [
        Figure("plain_per_s", "plain: jobs/s", compare=False),
        Figure("batch_per_s", "one batch: jobs/s", compare=False),
        Figure("batches_per_s", "batches of ten: jobs/s", compare=False),
        Figure("batch_to_plain", "one batch ÷ plain, jobs/s", compare=False),
        Figure("batches_to_plain", "batches of ten ÷ plain, jobs/s", compare=False),
        Figure("settle_ms", "last member → the batch has ended, ms", compare=False),
        Figure("batches_settle_p50_ms", "the same for batches of ten, p50 ms", compare=False),
        Figure("batches_settle_max_ms", "the same for batches of ten, max ms", compare=False),
        Figure("step_p50_ms", "step → next step arrives, p50 ms beyond the call", compare=False),
        Figure("step_p99_ms", "step → next step arrives, p99 ms beyond the call", compare=False),
    ]

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=10_000, help="in each queue")
        parser.add_argument("--steps", type=int, default=300, help="of the chain")

    def fits(self, contender: Contender) -> bool:
        return contender.load_batches_sql is not None

    def run(self, bench: Workbench, contender: Contender) -> dict[str, object]:
        jobs = self.options.jobs
        plain = self._drain(bench, contender, 0)
        batch = self._drain(bench, contender, jobs)
        batches = self._drain(bench, contender, 10)
        steps = self._chain(bench, contender)
        return {
            "jobs": jobs,
            "plain_per_s": plain["per_s"],
            "batch_per_s": batch["per_s"],
            "batches_per_s": batches["per_s"],
            "batch_to_plain": batch["per_s"] / plain["per_s"],
            "batches_to_plain": batches["per_s"] / plain["per_s"],
            "settle_ms": batch["max_ms"],
            "batches_settle_p50_ms": batches["p50_ms"],
            "batches_settle_max_ms": batches["max_ms"],
            "step_p50_ms": steps[len(steps) // 2],
            "step_p99_ms": steps[len(steps) * 99 // 100],
        }

    def _drain(self, bench: Workbench, contender: Contender, size: int) -> dict[str, float]:
        """`size`: members of each batch; 0: plain jobs."""
        jobs = self.options.jobs
        with bench.database(contender) as database:
            sql = contender.load_batches_sql if size else contender.load_sql
            assert sql
            database.session.execute(sql, {"url": bench.nginx.base_url + "/call", "count": jobs, "size": size})
            database.settle()
            rows = jobs + (jobs // size if size else 0)
            with bench.worker(contender, database, self.options.concurrency) as worker:
                database.await_finished(rows, worker, RUN_LIMIT_S, EVERY_S)
            if (kept := database.kept()) != jobs:
                raise RuntimeError(f"{contender.name}: {kept} of {jobs} results have status 200 and a whole body")
            # Jobs 1 and 2 are the two calls that the workbench made for the template.
            per_s = database.value(
                "select count(*) / extract(epoch from max(finished_at) - min(started_at))"
                " from postrider.job_status where kind = 'request' and id > 2")
            waits = [float(row[0]) for row in database.session.execute(
                "select extract(epoch from max(b.finished_at) - max(m.finished_at)) * 1000"
                " from postrider.job_status b join postrider.job_status m on m.parent_id = b.id"
                " where b.kind = 'batch' group by b.id order by 1")]
        return {"per_s": float(per_s)} | (
            {"p50_ms": waits[len(waits) // 2], "max_ms": waits[-1]} if waits else {})

    def _chain(self, bench: Workbench, contender: Contender) -> list[float]:
        """The gaps between the steps in ms, sorted, without the first tenth, which creates sessions and plans."""
        count = self.options.steps
        with bench.database(contender) as database, \
                bench.worker(contender, database, self.options.concurrency) as worker:
            time.sleep(QUIET_S)
            bench.stamps.clear()
            database.session.execute(
                contender.load_chain_sql, {"url": bench.stamps.base_url + "/stamp/", "count": count})
            database.await_finished(count + 1, worker, RUN_LIMIT_S, EVERY_S)
            arrived = bench.stamps.arrivals()
            took = dict(database.session.execute(
                "select j.position, a.total_ms::float8 from postrider.attempts a"
                " join postrider.job_status j on j.id = a.job_id where j.parent_id is not null").fetchall())
        # The numbers of the calls begin at 0, and the positions in the chain at 1.
        return sorted(
            (arrived[n + 1] - arrived[n]) / 1e6 - took[n + 1] for n in range(count // 10, count - 1))
