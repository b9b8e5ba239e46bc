-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Rows before p_since were promoted already. While a transaction stays open for hours, each call would walk over their
-- dead index entries, ten times a second. Rows that were committed late may lie before p_since, so now and then it is
-- null.
create or replace function postrider_internal.promote(
  p_worker int, p_epoch bigint, p_since timestamptz, p_limit int, out moved int, out latest timestamptz,
  out more boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from postrider_internal.failing_lanes r where r.failing) then
    select p.moved, p.latest, p.more into moved, latest, more
      from postrider_internal.promote_by_budget(p_worker, p_epoch, p_since, p_limit) p;
    return;
  end if;
  with due as materialized (
    select s.ctid as spot
      from postrider_internal.scheduled s
     where s.run_at <= now() and s.run_at >= coalesce(p_since, '-infinity')
       and postrider_internal.leads(p_worker, p_epoch)
     order by s.run_at, s.job_id
     limit p_limit
       for update skip locked),
  gone as (
    delete from postrider_internal.scheduled s using due d where s.ctid = d.spot returning s.*),
  placed as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          parent_id, has_callbacks)
    select nextval('postrider.jobs_id_seq'), g.job_id, g.track, g.attempt, g.max_attempts, g.rekey, g.at_most_once,
           g.expires_at, g.parent_id, g.has_callbacks
      from (select * from gone order by run_at, job_id) g)
  select count(*), max(g.run_at), count(*) = p_limit into moved, latest, more from gone g;
end
$$;
comment on function postrider_internal.promote(int, bigint, timestamptz, int) is
  'leader: moves up to p_limit due rows with run_at from p_since (null: all) from scheduled to ready';
