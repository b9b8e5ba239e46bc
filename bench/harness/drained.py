# SPDX-License-Identifier: Apache-2.0
"""Measures a drain: workers empty a queue that was filled before."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from harness.meter import Usage
from harness.process import Process
from harness.workbench import Database, Workbench

START_LIMIT_S = 60
RUN_LIMIT_S = 600


def measure(
    bench: Workbench, database: Database, workers: Sequence[Process], jobs: int, before: int,
    meanwhile: AbstractContextManager = nullcontext(), start_limit_s: float = START_LIMIT_S
) -> tuple[Usage, int]:
    """The usage and the bytes of WAL from the first request that nginx sees until the last result is stored.

    `before` is the number of requests before the workers started. Each result must have status 200 and a whole body.
    """
    meter = bench.meter(database, *workers)
    for _ in bench.nginx.watch(1, before, workers[0], start_limit_s):
        pass
    first, position = meter.read(), database.wal_position()
    with meanwhile:
        for _ in bench.nginx.watch(jobs, before, workers[0], RUN_LIMIT_S):
            pass
        database.await_finished(jobs, workers[0])
        usage = Usage.between(first, meter.read())
    wal = database.wal_bytes_since(position)
    if (kept := database.kept()) != jobs:
        raise RuntimeError(f"{workers[0].name}: {kept} of {jobs} results have status 200 and a whole body")
    return usage, wal
