# SPDX-License-Identifier: Apache-2.0
"""procrastinate_worker.py URL install | run CONCURRENCY: calls the URLs of procrastinate's jobs, stores the answers."""

import sys

import aiohttp
import asyncpg
import procrastinate
import uvloop

QUEUE_SESSIONS = 10
RESULT_SESSIONS = 10
STORE = "insert into results (job_id, status, body) values ($1, $2, $3)"


def application(url: str) -> procrastinate.App:
    """The library on a pool of psycopg sessions."""
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=QUEUE_SESSIONS, max_size=QUEUE_SESSIONS)
    return procrastinate.App(connector=connector)


async def install(url: str) -> None:
    """Creates the library's tables."""
    async with application(url).open_async() as app:
        await app.schema_manager.apply_schema_async()


async def run(url: str, concurrency: int) -> None:
    """Works until SIGTERM."""
    async with (
        application(url).open_async() as app,
        asyncpg.create_pool(url, min_size=RESULT_SESSIONS, max_size=RESULT_SESSIONS) as result_pool,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as client,
    ):

        @app.task(queue="default", name="call", pass_context=True)
        async def call(context, url: str) -> None:
            async with client.get(url) as answer:
                body = await answer.text()
            await result_pool.execute(STORE, context.job.id, answer.status, body)

        await app.run_worker_async(concurrency=concurrency, wait=True, shutdown_graceful_timeout=2)


if __name__ == "__main__":
    uvloop.run(install(sys.argv[1]) if sys.argv[2] == "install" else run(sys.argv[1], int(sys.argv[3])))
