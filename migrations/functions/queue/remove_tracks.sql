-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Locks the tracks before it searches for their rows. A reschedule to another priority locks its track (for key share)
-- until its row is committed. All other statements may write the number of a track while it is removed;
-- move_jobs_of_removed_tracks moves those rows.
--
-- At most four removals are under way. While a transaction stays open for hours, further removals wait for it to end.
-- is_pending: some removals are still under way.
create or replace function postrider_internal.remove_tracks(
  p_worker int, p_epoch bigint, p_after int, p_limit int, p_age interval default interval '1 day',
  out removed int, out reached int, out is_pending boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_ids int[];
  v_last int;
begin
  removed := 0;
  reached := p_after;
  is_pending := false;
  if not postrider_internal.leads(p_worker, p_epoch) then
    return;
  end if;
  if exists (select from postrider_internal.removed_tracks) then
    perform postrider_internal.move_jobs_of_removed_tracks(5000);
  end if;
  if (select count(*) from postrider_internal.removed_tracks) < 4 then
    with looked_at as materialized (
      select t.id, t.last_used, t.made_at from postrider_internal.tracks t where t.id > p_after
        order by t.id limit p_limit),
    held as materialized (
      select t.id from postrider_internal.tracks t
       where t.id = any (array(
               select l.id from looked_at l
                where greatest(l.last_used, l.made_at) < clock_timestamp() - p_age
                  and not exists (select from postrider_internal.ready r where r.track = l.id offset 0)
                  and not exists (select from postrider_internal.scheduled s where s.track = l.id offset 0)))
         and greatest(t.last_used, t.made_at) < clock_timestamp() - p_age
         for update skip locked)
    select (select array_agg(h.id) from held h),
           case when (select count(*) from looked_at) = p_limit then (select max(l.id) from looked_at l) else 0 end
      into v_ids, v_last;
    reached := v_last;
    with gone as (
      delete from postrider_internal.tracks t
       where t.id = any (v_ids)
         and not exists (select from postrider_internal.ready r where r.track = t.id offset 0)
         and not exists (select from postrider_internal.scheduled s where s.track = t.id offset 0)
      returning t.id, t.queue, t.lane),
    noted as (
      insert into postrider_internal.removed_tracks (tracks, queues, lanes)
      select array_agg(g.id order by g.id), array_agg(g.queue order by g.id), array_agg(g.lane order by g.id)
        from gone g having count(*) > 0)
    select count(*) into removed from gone;
  end if;
  is_pending := exists (select from postrider_internal.removed_tracks);
end
$$;
comment on function postrider_internal.remove_tracks(int, bigint, int, int, interval) is
  'leader: checks p_limit tracks behind p_after, removes those empty for p_age; reached 0: no track follows';
