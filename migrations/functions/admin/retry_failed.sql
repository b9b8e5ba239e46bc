-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Single jobs run again all at once (rerun_failed_jobs). Jobs with pages are handled one by one.
--
-- A member of an ended batch or chain runs again with the whole tree, so each tree once. Jobs that cannot run again are
-- left out and not counted. They expired, are in another retry, were pruned meanwhile, their dedupe_key is in use, or
-- members of them are not concluded. An at_most_once job on which the server may have acted is left out too.
--
-- Candidates come from the index results_failures, from `since` on. Queue and lane are known from the track, so only
-- the remaining jobs are looked up in jobs (13 µs each). If a tag has few jobs, they are looked up among the results
-- instead, however many others have failed.
create or replace function postrider.retry_failed(
  queue text default null, error_code text default null, since timestamptz default null, tag text default null,
  lane text default null,
  error_name text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_plain bigint[];
  v_others bigint[];
  v_id bigint;
  v_count bigint;
  v_tracks int[];                          -- null: any, or too many
  v_tagged bigint[];                       -- null: any, or too many
  v_looks_up boolean := false;
begin
  if retry_failed.error_code is not null
     and not exists (select from postrider.error_codes e where e.code = retry_failed.error_code) then
    raise exception using errcode = 'PR001', column = 'error_code',
      message = format('error_code: %s is not an error code', quote_literal(retry_failed.error_code)),
      hint = 'See select code, meaning from postrider.error_codes; null means any.';
  elsif retry_failed.since > clock_timestamp() then
    raise exception using errcode = 'PR001', column = 'since',
      message = 'since: is in the future',
      hint = 'Give a past time, like now() - interval ''2 hours''; null means any.';
  end if;
  -- A failed job whose track was removed is looked up too.
  if num_nonnulls(retry_failed.queue, retry_failed.lane) > 0 then
    v_tracks := array(
      select t.id from postrider_internal.tracks t
       where (retry_failed.queue is null or t.queue = retry_failed.queue)
         and (retry_failed.lane is null or t.lane = retry_failed.lane)
       limit 10001);
    -- The planner reads each element of the array, so a longer one is not used.
    if cardinality(v_tracks) > 10000 then
      v_tracks := null;
      v_looks_up := true;
    end if;
  end if;
  if retry_failed.tag is not null then
    v_tagged := array(select j.id from postrider.jobs j where j.tag = retry_failed.tag limit 20001);
    if cardinality(v_tagged) > 20000 then
      v_tagged := null;
    end if;
  end if;
  with candidates as (
    select r.job_id, r.track, r.fence
      from postrider_internal.results r
     where v_tagged is null and postrider_internal.is_failure(r.state) and r.state = 'f'
       and r.finished_at >= coalesce(retry_failed.since, '-infinity')
       and (retry_failed.error_code is null or r.error_code = retry_failed.error_code)
       and (r.track <= 0 or v_tracks is null or r.track = any (v_tracks)
            or not exists (select from postrider_internal.tracks t where t.id = r.track))
    union all
    select r.job_id, r.track, r.fence
      from unnest(v_tagged) t (id)
     cross join lateral (
           select x.job_id, x.track, x.fence
             from postrider_internal.results x
            where x.job_id = t.id and x.state = 'f'
              and x.finished_at >= coalesce(retry_failed.since, '-infinity')
              and (retry_failed.error_code is null or x.error_code = retry_failed.error_code)
              and (x.track <= 0 or v_tracks is null or x.track = any (v_tracks)
                   or not exists (select from postrider_internal.tracks t where t.id = x.track)) offset 0) r),
  failed as materialized (
    select c.job_id, j.parent_id is not null as is_member,
           j.parent_id is null and j.kind = 'request' and j.paginate is null as is_plain
      from candidates c
     cross join lateral (
           select x.queue, x.lane, x.service, x.url, x.tag, x.parent_id, x.kind, x.paginate, x.expires_at, x.delivery
             from postrider.jobs x where x.id = c.job_id offset 0) j
     where (retry_failed.tag is null or j.tag = retry_failed.tag)
       and (retry_failed.error_name is null or exists (
             select from postrider_internal.envelope_errors e
              where e.job_id = c.job_id and e.fence = c.fence and e.name = retry_failed.error_name))
       and (c.track > 0 and not v_looks_up and (v_tracks is null or c.track = any (v_tracks))
            or (retry_failed.queue is null or j.queue = retry_failed.queue)
               and (retry_failed.lane is null
                    or postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) = retry_failed.lane))
       and (j.expires_at is null or j.expires_at > now())
       and not (j.delivery = 'at_most_once'
                and (select postrider_internal.can_have_acted(r) from postrider_internal.results r
                     where r.job_id = c.job_id)))
  select array_agg(f.job_id) filter (where f.is_plain),
         (select array_agg(distinct case when o.is_member then postrider_internal.topmost_ended_ancestor(o.job_id)
                           else o.job_id end)
            from failed o where not o.is_plain)
    into v_plain, v_others
    from failed f;

  v_count := postrider_internal.rerun_failed_jobs(v_plain);
  foreach v_id in array coalesce(v_others, '{}') loop
    continue when v_id is null or postrider_internal.can_have_acted_below(v_id);
    begin
      perform postrider.retry(v_id);
      v_count := v_count + 1;
    exception when sqlstate 'PR003' or sqlstate 'PR005' or unique_violation then
      null;
    end;
  end loop;
  return v_count;
end
$$;
comment on function postrider.retry_failed(text, text, timestamptz, text, text, text) is
  'retries failed jobs that match all filters (null: any); returns how many; a batch or chain counts once';
