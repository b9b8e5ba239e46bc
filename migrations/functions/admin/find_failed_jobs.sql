-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Candidates come from the index results_failures, from `p_since` on. Queue and lane are known from the track, so only
-- the remaining jobs are looked up in jobs (13 µs each). If a tag has few jobs, they are looked up among the results
-- instead, however many others have failed.
create or replace function postrider_internal.find_failed_jobs(
  p_queues text[] default null, p_lane text default null, p_service text default null, p_operation text default null,
  p_tag text default null, p_error_code text default null, p_error_name text default null,
  p_since timestamptz default null, p_until timestamptz default null)
returns bigint[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tracks int[];                          -- null: any, or too many
  v_tagged bigint[];                       -- null: any, or too many
  v_looks_up boolean := false;
begin
  -- A failed job whose track was removed is looked up too.
  if num_nonnulls(p_queues, p_lane) > 0 then
    v_tracks := array(
      select t.id from postrider_internal.tracks t
       where (p_queues is null or t.queue = any (p_queues)) and (p_lane is null or t.lane = p_lane)
       limit 10001);
    -- The planner reads each element of the array, so a longer one is not used.
    if cardinality(v_tracks) > 10000 then
      v_tracks := null;
      v_looks_up := true;
    end if;
  end if;
  if p_tag is not null then
    v_tagged := array(select j.id from postrider.jobs j where j.tag = p_tag limit 20001);
    if cardinality(v_tagged) > 20000 then
      v_tagged := null;
    end if;
  end if;
  return (
    with candidates as (
      select r.job_id, r.track, r.fence
        from postrider_internal.results r
       where v_tagged is null and postrider_internal.is_failure(r.state) and r.state = 'f'
         and r.finished_at >= coalesce(p_since, '-infinity')
         and (p_until is null or r.finished_at < p_until)
         and (p_error_code is null or r.error_code = p_error_code)
         and (r.track <= 0 or v_tracks is null or r.track = any (v_tracks)
              or not exists (select from postrider_internal.tracks t where t.id = r.track))
      union all
      select r.job_id, r.track, r.fence
        from unnest(v_tagged) t (id)
       cross join lateral (
             select x.job_id, x.track, x.fence
               from postrider_internal.results x
              where x.job_id = t.id and x.state = 'f'
                and x.finished_at >= coalesce(p_since, '-infinity')
                and (p_until is null or x.finished_at < p_until)
                and (p_error_code is null or x.error_code = p_error_code)
                and (x.track <= 0 or v_tracks is null or x.track = any (v_tracks)
                     or not exists (select from postrider_internal.tracks t where t.id = x.track)) offset 0) r)
    select coalesce(array_agg(c.job_id order by c.job_id), '{}')
      from candidates c
     cross join lateral (
           select x.queue, x.lane, x.service, x.operation, x.url, x.tag
             from postrider.jobs x where x.id = c.job_id offset 0) j
     where (p_tag is null or j.tag = p_tag)
       and (p_service is null or j.service = p_service)
       and (p_operation is null or j.operation = p_operation)
       and (p_error_name is null or exists (
             select from postrider_internal.envelope_errors e
              where e.job_id = c.job_id and e.fence = c.fence and e.name = p_error_name))
       and (c.track > 0 and not v_looks_up and (v_tracks is null or c.track = any (v_tracks))
            or (p_queues is null or j.queue = any (p_queues))
               and (p_lane is null
                    or postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) = p_lane)));
end
$$;
comment on function postrider_internal.find_failed_jobs(
  text[], text, text, text, text, text, text, timestamptz, timestamptz) is
  'the ids of all failed jobs that match all filters (null: any), in ascending order';
