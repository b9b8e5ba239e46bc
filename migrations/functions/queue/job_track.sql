-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
create or replace function postrider_internal.job_track(p_track int, p_job bigint) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_track int;
begin
  select t.id into v_track from postrider_internal.tracks t where t.id = p_track;
  if not found then
    select t.id into v_track
      from postrider.jobs j
      join postrider_internal.tracks t on t.queue = j.queue and t.priority = j.priority
                             and t.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
     where j.id = p_job;
  end if;
  return coalesce(v_track, 0);
end
$$;
comment on function postrider_internal.job_track(int, bigint) is
  'the track of a job that runs again: p_track, or the one of its queue, lane and priority; 0: none yet';
