# SPDX-License-Identifier: Apache-2.0
"""pgqueuer_worker.py URL install | run CONCURRENCY: calls the URLs of pgqueuer's jobs, stores the answers."""

import asyncio
import signal
import sys

import aiohttp
import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.queries import Queries

QUEUE_SESSIONS = 5
RESULT_SESSIONS = 10
STORE = "insert into results (job_id, status, body) values ($1, $2, $3)"


async def install(url: str) -> None:
    """Creates the library's tables."""
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        await Queries(AsyncpgPoolDriver(pool)).install()


async def run(url: str, concurrency: int) -> None:
    """Works until SIGTERM. The batch size is the library's default of 10, the fastest of 10, 32, 64 and 200."""
    async with (
        asyncpg.create_pool(url, min_size=QUEUE_SESSIONS, max_size=QUEUE_SESSIONS) as queue_pool,
        asyncpg.create_pool(url, min_size=RESULT_SESSIONS, max_size=RESULT_SESSIONS) as result_pool,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as client,
    ):
        queue = PgQueuer(AsyncpgPoolDriver(queue_pool))

        @queue.entrypoint("call")
        async def call(job) -> None:
            async with client.get(job.payload.decode()) as answer:
                body = await answer.text()
            await result_pool.execute(STORE, job.id, answer.status, body)

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queue.shutdown.set)
        await queue.run()


if __name__ == "__main__":
    uvloop.run(install(sys.argv[1]) if sys.argv[2] == "install" else run(sys.argv[1], int(sys.argv[3])))
