-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Counts jobs of a higher priority in all queues, jobs before it on its track, and as many jobs of each other queue,
-- because queues take turns. Jobs of a paused queue do not count.
create or replace function postrider_internal.lane_jobs_before(p_track int, p_seq bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_track postrider_internal.tracks;
  v_before bigint;
begin
  select * into v_track from postrider_internal.tracks t where t.id = p_track;
  select count(*) into v_before
    from (select from postrider_internal.ready r
           where r.track = p_track and r.seq < p_seq and r.worker = 0 limit 10001) a;
  return v_before + (
    select count(*)
      from (select
              from postrider_internal.tracks t
             cross join lateral (
                   select from postrider_internal.ready r where r.track = t.id and r.worker = 0
                    order by r.track, r.seq limit case when t.priority > v_track.priority then 10001
                      else v_before end) r
             where t.lane = v_track.lane and t.priority >= v_track.priority and t.id <> v_track.id
               and not exists (select from postrider.queues q where q.name = t.queue and q.paused)
             limit 10001) a);
end
$$;
comment on function postrider_internal.lane_jobs_before(int, bigint) is
  'how many ready jobs of its lane begin before the job at this place; stops counting above 10,000';
