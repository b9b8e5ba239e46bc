-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- p_key: calls that have ended. p_all: whether their answer now serves all waiting jobs. If not, the first job in line
-- makes the next call, and the others wait. So a failing server does not get all calls at once.
--
-- Skips locked rows, because other transactions are promoting, cancelling or moving them.
create or replace function postrider_internal.release_cache_waits(p_key bytea[], p_all boolean[]) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moved int := 0;
begin
  if not exists (select from postrider_internal.cache_waits) then
    return 0;
  end if;
  with due as materialized (
    select w.*
      from unnest(p_key, p_all) as k(key, is_for_all)
     cross join lateral (
           select a.spot, s.place, a.seq
             from (select a.ctid as spot, a.job_id, a.run_at, a.seq from postrider_internal.cache_waits a
                    where a.key = k.key order by a.key, a.seq offset 0) a
            cross join lateral (
                  select s.ctid as place from postrider_internal.scheduled s
                   where s.job_id = a.job_id and s.run_at = a.run_at for update skip locked) s
            limit case when not k.is_for_all then 1 end) w),
  gone as (
    delete from postrider_internal.scheduled s using due d where s.ctid = d.place returning s.*, d.seq, d.spot),
  unwaited as (
    delete from postrider_internal.cache_waits w using gone g where w.ctid = g.spot)
  insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                        parent_id, has_callbacks)
  select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt, o.max_attempts, o.rekey, o.at_most_once,
         o.expires_at, o.parent_id, o.has_callbacks
    from (select * from gone g order by g.seq) o;
  get diagnostics v_moved = row_count;
  if v_moved > 0 then
    perform postrider_internal.notify_idle_workers();
  end if;
  return v_moved;
end
$$;
comment on function postrider_internal.release_cache_waits(bytea[], boolean[]) is
  'makes jobs ready that waited for ended calls, all or the first in line; returns how many';
