# SPDX-License-Identifier: Apache-2.0
"""The part of the database that has not ended, by public INSERTs and real calls, and the rows of settings."""

import time
from collections.abc import Callable

import psycopg

PATIENCE_S = 120
ROWS_AT_ONCE = 250  # larger INSERTs may go to the intake, and then their rows are not ready yet

SETTINGS = [
    # Lanes: a fifth has limits, and each fortieth of them is paused.
    """insert into postrider.lanes (name, max_in_flight, rate_limit, rate_period)
       select 'tenant ' || i * 5, case when i % 2 = 0 then 5 end, case when i % 2 = 1 then 100 end, interval '1 min'
         from generate_series(0, {lanes} / 5 - 1) i""",
    "select postrider.pause_lane('tenant ' || i * 40 + 1) from generate_series(0, {lanes} / 40 - 1) i",
    "insert into postrider.lanes (name, max_in_flight) values ('exports', 40)",
    "select postrider.pause_queue('archive')",
    # Services with servers, credentials, schedules.
    """insert into postrider.services (name, base_url) select 'eu ' || i, null from generate_series(1, 20) i;
       insert into postrider.servers (service, environment, position, base_url)
       select 'eu ' || i, 'release', n, '{url}/' || n from generate_series(1, 20) i, generate_series(1, 3) n""",
    """insert into postrider.credentials (name, kind, token_url, client_id, allow_private_network)
       select 'login ' || i, 'oauth2_client_credentials', '{url}/token', 'app', true from generate_series(1, 40) i;
       select postrider.log_in('login ' || i, '{{"client_secret": "s"}}') from generate_series(1, 30) i;
       insert into postrider.services (name, base_url, credential)
       select 'partner ' || i, '{url}/', 'login ' || i from generate_series(1, 30) i;
       insert into postrider.jobs (service, url) select 'partner ' || i, 'orders/' || i from generate_series(1, 30) i""",
    """insert into postrider.schedules (name, cron, timezone, spec)
       select 'report ' || i, '0 ' || i % 24 || ' * * *', 'Europe/Berlin',
              '{{"service": "service 1", "url": "orders/report"}}' from generate_series(1, 100) i;
       select postrider.run_schedule('report ' || i) from generate_series(1, 50) i""",
    # The cache, and calls that it serves.
    """select count(postrider.cache_put(jsonb_build_object('service', 'service ' || i % 20, 'url', 'rates/' || i),
              jsonb_build_object('rate', i, 'text', repeat('x', 200)))) from generate_series(1, 5000) i;
       insert into postrider.jobs (service, url, cache_ttl)
       select 'service ' || i % 20, 'rates/' || i, '1 hour' from generate_series(1, 2000) i""",
    "select postrider_internal.record_admin_action('ada', 'retry', jsonb_build_object('id', i), 1)"
    " from generate_series(1, 3000) i",
    # Clients with limits.
    """do $$ begin
         for i in 1..20 loop
           if not exists (select from pg_roles where rolname = 'shop_' || i) then
             execute format('create role shop_%s in role postrider_client', i);
           end if;
         end loop; end $$;
       insert into postrider.client_limits (role, max_unfinished, max_lanes)
       select 'shop_' || i, 100000, 50 from generate_series(1, 20) i""",
]
CLIENT_JOBS = """
set role shop_{client};
insert into postrider.jobs (url, lane, run_at)
select '{url}/orders/' || i, 'shop ' || i % 5, now() + interval '1 day' from generate_series(1, 200) i;
reset role
"""
READY = """
insert into postrider.jobs (queue, lane, service, method, url, body_json, tag)
select 'bulk', 'tenant ' || i % {lanes}, 'service ' || i % 20, 'POST', 'orders/' || i,
       jsonb_build_object('order', i), case when i % 10 = 0 then 'campaign ' || i % 7 end
  from generate_series({first}, {first} + {rows} - 1) i
"""
SCHEDULED = """
insert into postrider.jobs (queue, lane, service, url, run_at, tag)
select (array['default', 'mail'])[1 + i % 2], 'tenant ' || i % {lanes}, 'service ' || i % 20, 'orders/' || i,
       now() + interval '1 hour' + i * interval '2 s', case when i % 10 = 0 then 'campaign ' || i % 7 end
  from generate_series(1, {rows}) i
"""
RETRYING = """
insert into postrider.jobs (lane, service, url, max_attempts, backoff)
select 'tenant ' || i % {lanes}, 'service ' || i % 20, 'fail/503/' || i, 5, array[interval '1 day']
  from generate_series(1, {rows}) i
"""
# Jobs behind a pause, a throttled lane, and calls that do not end.
HELD = """
insert into postrider.jobs (queue, url) select 'archive', '{url}/orders/' || i from generate_series(1, 200) i;
insert into postrider.jobs (lane, service, url)
select 'tenant ' || i % 25 * 40 + 1, 'service 1', 'orders/' || i from generate_series(1, 250) i;
insert into postrider.jobs (lane, service, url) select 'throttled ' || i, 'service 5', 'fail/429/' || i
  from generate_series(1, 20) i;
insert into postrider.jobs (lane, url, timeout) select 'exports', '{slow}/delay/7200000', '3 hours'
  from generate_series(1, 30) i
"""
# One batch and one chain that have ended, and one of each that has not.
TREES = """
with batch as (insert into postrider.jobs (kind, mode, name) values ('batch', 'settle', null) returning id)
insert into postrider.jobs (parent_id, service, url, max_attempts)
select b.id, 'service 6', case when n = 5000 then 'fail/404/' else 'orders/' end || n, 1
  from batch b, generate_series(1, 10000) n;
with chain as (insert into postrider.jobs (kind) values ('chain') returning id)
insert into postrider.jobs (parent_id, position, service, url)
select c.id, n, 'service 6', 'orders/' || n from chain c, generate_series(1, 200) n
"""
OPEN_TREES = """
with batch as (insert into postrider.jobs (kind, max_parallel) values ('batch', 5) returning id)
insert into postrider.jobs (parent_id, service, lane, url)
select b.id, 'service 7', 'tenant 41', 'orders/' || n from batch b, generate_series(1, 10000) n;
with chain as (insert into postrider.jobs (kind) values ('chain') returning id)
insert into postrider.jobs (parent_id, position, service, lane, url)
select c.id, n, 'service 7', case when n = 20 then 'tenant 41' end, 'orders/' || n
  from chain c, generate_series(1, 100) n
"""
# The leader has fed all lists, the trees have ended, most failing calls wait for their retry, and only the endless calls
# run. Some failing calls stay behind the limits and pauses of their lanes.
QUIET = [
    "select count(*) = 0 from postrider_internal.intake",
    "select count(*) = 2 from postrider_internal.results r join postrider_internal.trees t on t.job_id = r.job_id"
    " where t.children in (10000, 200)",
    "select count(*) >= 0.9 * {retrying} from postrider_internal.scheduled where attempt > 0",
    "select count(*) between 1 and 30 from postrider_internal.ready where worker > 0",
]


def insert_settings(session: psycopg.Connection, url: str, lanes: int) -> None:
    """Lanes, servers, credentials, schedules, cache entries, acts and clients."""
    for statement in SETTINGS:
        session.execute(statement.format(url=url, lanes=lanes))
    for client in range(1, 21):
        session.execute(CLIENT_JOBS.format(client=client, url=url))


def insert_jobs(session: psycopg.Connection, url: str, slow: str, lanes: int, waiting: int,
                check: Callable[[], None]) -> None:
    """`waiting` ready jobs, two thirds as many scheduled ones, a fifteenth that wait for their retry, and trees."""
    retrying = waiting // 15
    session.execute(SCHEDULED.format(lanes=lanes, rows=waiting * 2 // 3))
    session.execute(TREES)
    session.execute(RETRYING.format(lanes=lanes, rows=retrying))
    session.execute(OPEN_TREES)
    session.execute(HELD.format(url=url, slow=slow))
    for first in range(0, waiting, ROWS_AT_ONCE):
        session.execute(READY.format(lanes=lanes, first=first, rows=min(ROWS_AT_ONCE, waiting - first)))
    for query in QUIET:
        await_true(session, query.format(retrying=retrying), check)


def await_true(session: psycopg.Connection, query: str, check: Callable[[], None]) -> None:
    """Waits until a query returns true."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        row = session.execute(query).fetchone()
        if row and row[0]:
            return
        check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {PATIENCE_S} s still not true: {query}")
        time.sleep(0.5)
