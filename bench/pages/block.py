# SPDX-License-Identifier: Apache-2.0
"""A block of some ten thousand jobs that real calls end, and its copies.

Real calls for ten million jobs take an hour. So only the block is inserted and called. Its rows are then copied by
INSERT ... SELECT into the internal tables. Each copy has higher ids, and times in the order of the ids.
"""

import sys
from collections.abc import Callable

import psycopg

DAYS = 13
COPIES_AT_ONCE = 25
HOUR = "interval '1 hour'"

# The base_url of each service ends in a slash, so the paths are relative.
SERVICES = """
insert into postrider.services (name, base_url, headers, query, envelope)
select 'service ' || i, %(url)s::text || '/', '{"Accept": "application/json"}', '{"app": "shop"}',
       case when i %% 4 = 0 then '{"code": "$.code", "message": "$.msg", "if_missing": "success",
                                    "errors": {"301": "user_not_found"}}'::jsonb end
  from generate_series(0, 19) i
"""
OPERATIONS = """
insert into postrider.operations (name, service, arguments, spec)
select 'orders.read_' || i, 'service ' || i % 20, '{"id": "number"}', '{"url": "orders/{{arg.id}}"}'
  from generate_series(0, 49) i
"""
SUCCEEDING = """
insert into postrider.jobs (queue, lane, service, method, url, headers, body_json, response_format, priority, tag,
                            metadata)
select (array['default', 'default', 'default', 'mail', 'reports'])[1 + i % 5],
       case when i % 20 > 0 then 'tenant ' || i % {lanes} end, 'service ' || i % 20,
       case when i % 2 = 0 then 'POST' else 'GET' end, 'orders/' || i || '?customer=' || i * 7,
       case when i % 3 = 0 then '{{"X-Source": "shop"}}'::jsonb end,
       case when i % 2 = 0 then jsonb_build_object('order', i, 'items', 3) end,
       case when i % 4 = 1 then 'json' else 'raw' end, case when i % 50 = 0 then 4 else 0 end,
       case when i % 3 = 0 then 'import ' || i % 40 end, jsonb_build_object('customer', i)
  from generate_series({first}, {last}) i
"""
CALLING = """
insert into postrider.jobs (operation, arguments, lane)
select 'orders.read_' || i % 50, jsonb_build_object('id', i), 'tenant ' || i % {lanes} from generate_series(1, 500) i
"""
FAILING = """
insert into postrider.jobs (lane, service, url, max_attempts, backoff, delivery, tag)
select 'tenant ' || i % {lanes}, case when i % 5 = 4 then 'service 4' else 'service ' || i % 20 end,
       'fail/' || (array['404', '503', '404', 'silent', 'code'])[1 + i % 5] || '/' || i,
       case when i % 10 = 3 then 1 else 2 end, array[interval '10 ms'],
       case when i % 10 = 3 then 'at_most_once' else 'at_least_once' end,
       case when i % 3 = 0 then 'import ' || i % 40 end
  from generate_series(1, 500) i
"""
SLOW = """
insert into postrider.jobs (lane, url, max_attempts, timeout)
select 'tenant ' || i, %(slow)s::text || '/delay/500', 1, '20 ms' from generate_series(1, 40) i
"""
HELD = """
select postrider.pause_lane('held');
insert into postrider.jobs (lane, service, url, expires_at)
select 'held', 'service 1', 'orders/' || i, now() + interval '1 s' from generate_series(1, 40) i;
insert into postrider.jobs (lane, service, url, run_at, tag)
select 'tenant ' || i, 'service 2', 'orders/' || i, now() + interval '1 hour', 'withdrawn' from generate_series(1, 60) i
"""
TREES = """
with batch as (insert into postrider.jobs (kind, mode) select 'batch', 'settle' from generate_series(1, 30) returning id)
insert into postrider.jobs (parent_id, service, url, max_attempts)
select b.id, 'service 3', case when n = 4 and b.id % 3 = 0 then 'fail/404/' else 'orders/' end || n, 1
  from batch b, generate_series(1, 10) n;
with chain as (insert into postrider.jobs (kind) select 'chain' from generate_series(1, 30) returning id)
insert into postrider.jobs (parent_id, position, name, service, url, run_if)
select c.id, n, 'step' || n, 'service 4',
       case when n = 3 and c.id % 5 = 0 then 'fail/404/' || n when n = 2 then 'orders/{{step1.status}}'
            else 'orders/' || n end, case when n = 4 then '$.step1.status == 500' end
  from chain c, generate_series(1, 4) n
"""
HAS_ENDED = """
select not exists (select from postrider.jobs j
                    where not exists (select from postrider_internal.results r where r.job_id = j.id))
"""

# Tables with the rows of jobs, and their columns that hold ids of jobs. Times are moved in all columns of that type.
COPIED = {
    "postrider.jobs": ["id", "parent_id"],
    "postrider_internal.results": ["job_id"],
    "postrider_internal.past_attempts": ["job_id"],
    "postrider_internal.envelope_errors": ["job_id"],
    "postrider_internal.attempt_notes": ["job_id"],
    "postrider_internal.filled_templates": ["job_id"],
    "postrider_internal.trees": ["job_id", "parent_id", "root_id", "failed_job_id"],
    "postrider_internal.members": ["job_id", "parent_id"],
}

# The leader makes ranges of this size, one after the other, as the ids grow.
ADD_RANGES = """
do $$
declare
  v_top bigint; v_size bigint; v_number int;
begin
  loop
    select max(r.end_id), count(*) into v_top, v_number from postrider_internal.job_ranges() r where r.end_id is not null;
    exit when v_top > {last} + 1000000;
    v_size := greatest(1000000, v_top / 4000000 * 1000000);
    v_number := v_number + 1;
    execute format('create table postrider_internal.results_%s (like postrider_internal.results including all)',
                   v_number);
    execute format('alter table postrider_internal.results attach partition postrider_internal.results_%s
                      for values from (%s) to (%s)', v_number, v_top, v_top + v_size);
    execute format('create table postrider_internal.jobs_%s (like postrider.jobs including all excluding identity)',
                   v_number);
    execute format('alter table postrider.jobs attach partition postrider_internal.jobs_%s
                      for values from (%s) to (%s)', v_number, v_top, v_top + v_size);
  end loop;
end $$
"""
# As the leader would have added up what it counts while jobs end.
TOTALS = f"""
insert into postrider_internal.job_totals as t (minute, queue, state, jobs)
select case when r.finished_at < now() - {HOUR} then '-infinity' else date_trunc('minute', r.finished_at) end,
       j.queue, r.state, count(*)
  from postrider_internal.results r join postrider.jobs j on j.id = r.job_id
 where r.job_id > {{block}}
 group by 1, 2, 3
on conflict (queue, state, minute) do update set jobs = t.jobs + excluded.jobs;
insert into postrider_internal.timings as t (minute, kind, bucket, jobs)
select date_trunc('minute', r.finished_at), k.kind, floor(log(2, greatest(k.us, 1)::numeric) * 4)::int, count(*)
  from postrider_internal.results r
 cross join lateral (values ('c'::"char", r.total_us), ('w', 2000 + r.job_id % 9000)) k (kind, us)
 where r.job_id >= postrider_internal.first_job_since(now() - {HOUR}) and r.finished_at >= now() - {HOUR}
   and k.us is not null
 group by 1, 2, 3
on conflict (minute, kind, bucket) do update set jobs = t.jobs + excluded.jobs
"""


class Block:
    """The ids from 1 to `size`, some of them without a job."""

    def __init__(self, session: psycopg.Connection):
        self._session = session
        self.size = self.jobs = 0

    def insert(self, url: str, slow_url: str, lanes: int) -> None:
        """Inserts services, operations and the jobs of the block. Each INSERT is small enough to queue its rows."""
        run = self._session.execute
        run(SERVICES, {"url": url})
        run(OPERATIONS)
        for first in range(1, 9_001, 250):
            run(SUCCEEDING.format(lanes=lanes, first=first, last=first + 249))
        run(CALLING.format(lanes=lanes))
        run(FAILING.format(lanes=lanes))
        run(SLOW, {"slow": slow_url})
        run(HELD)
        run(TREES)
        run("select postrider.cancel_all(tag => 'withdrawn')")

    def keep(self) -> None:
        """Keeps the rows of the block in a schema of their own, each with the time at which its job was inserted."""
        run = self._session.execute
        run("create schema block")
        for table, ids in COPIED.items():
            run(f"create unlogged table block.{_name(table)} as select x.*, j.created_at as base from {table} x"
                f" join postrider.jobs j on j.id = x.{ids[0]} order by j.id")
        row = run("select max(id), count(*) from postrider.jobs").fetchone()
        assert row
        self.size, self.jobs = row

    def copy(self, wanted: int, check: Callable[[], None]) -> None:
        """Copies the block until there are `wanted` jobs. The times end now, and begin some days ago."""
        run, copies = self._session.execute, max(1, round(wanted / self.jobs) - 1)
        last = (copies + 1) * self.size
        run(ADD_RANGES.replace("{last}", str(last)))
        start = f"(now() - interval '{DAYS} days')"
        run("set synchronous_commit = off; set session_replication_role = replica")
        for first in range(1, copies + 1, COPIES_AT_ONCE):
            check()
            for table, ids in COPIED.items():
                run(self._statement(table, ids, start, last, first, min(first + COPIES_AT_ONCE - 1, copies)))
            if first // COPIES_AT_ONCE % 4 == 0:
                print(f"bench: pages: {first * self.jobs:,} of {wanted:,} jobs", file=sys.stderr)
        # The block itself becomes the oldest part.
        for table in ("postrider.jobs", "postrider_internal.results", "postrider_internal.past_attempts"):
            run(f"update {table} x set " + ", ".join(
                f"{column} = {column} - interval '{DAYS} days'" for column in self._times(table))
                + f" where {COPIED[table][0]} <= {self.size}")
        run("set session_replication_role = origin; set synchronous_commit = on")
        run(f"select setval('postrider.jobs_id_seq', {last})")
        run("analyze postrider.jobs, postrider_internal.results")
        run(TOTALS.replace("{block}", str(self.size)))
        run("drop schema block cascade")

    def _statement(self, table: str, ids: list[str], start: str, last: int, first: int, final: int) -> str:
        columns = self._columns(table)
        moved = (f"({start} + (m.{ids[0]} + k * {self.size}) * (interval '{DAYS} days' / {last}) - m.base)")
        values = []
        for name, kind in columns:
            if name in ids:
                values.append(f"m.{name} + k * {self.size}")
            else:
                values.append(f"m.{name} + {moved}" if kind.startswith("timestamp") else f"m.{name}")
        overriding = "overriding system value" if table == "postrider.jobs" else ""
        # The lateral part keeps the copies one after the other on disk.
        return (f"insert into {table} ({', '.join(name for name, _ in columns)}) {overriding}"
                f" select {', '.join(values)} from generate_series({first}, {final}) k cross join lateral"
                f" (select * from block.{_name(table)} b where k > 0 offset 0) m")

    def _times(self, table: str) -> list[str]:
        return [name for name, kind in self._columns(table) if kind.startswith("timestamp")]

    def _columns(self, table: str) -> list[tuple[str, str]]:
        schema, _, name = table.partition(".")
        return self._session.execute(
            "select column_name, data_type from information_schema.columns where table_schema = %s"
            " and table_name = %s and is_generated = 'NEVER' order by ordinal_position", (schema, name)).fetchall()


def _name(table: str) -> str:
    return table.partition(".")[2]
