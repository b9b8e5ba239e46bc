-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Handles single jobs all at once, like retry for one job. Jobs with pages are handled one by one. A dedupe_key is
-- taken before the result is removed, and held until the commit. A concurrent INSERT with the key waits and then finds
-- an unfinished job. Of several failed jobs with one key the last runs again.
--
-- A member of an ended batch or chain runs again with the whole tree, so each tree once. Jobs that cannot run again are
-- left out and not counted. They expired, are in another retry, were pruned meanwhile, their dedupe_key is in use, or
-- members of them are not concluded.
--
-- Candidates come from results_failures, from since on. Queue and lane are known from the track, so only the
-- remaining jobs are looked up in jobs (13 µs each). If a tag has few jobs, they are looked up among the results
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
  v_first bigint;
  v_tracks int[];                          -- null: any, or too many
  v_tagged bigint[];                       -- null: any, or too many
  v_looks_up boolean := false;
begin
  if retry_failed.error_code is not null
     and not exists (select from postrider.error_codes e where e.code = retry_failed.error_code) then
    raise exception using errcode = 'PR001', column = 'error_code',
      message = format('error_code: there is no %s', quote_literal(retry_failed.error_code)),
      hint = 'See select code, meaning from postrider.error_codes; null means any.';
  elsif retry_failed.since > clock_timestamp() then
    raise exception using errcode = 'PR001', column = 'since',
      message = 'since: lies ahead, and nothing can have failed since then',
      hint = 'Give a time that is over, like now() - interval ''2 hours''; null means any.';
  end if;
  -- A failed job whose track was removed is looked up too.
  if num_nonnulls(retry_failed.queue, retry_failed.lane) > 0 then
    v_tracks := array(
      select t.id from postrider_internal.tracks t
       where (retry_failed.queue is null or t.queue = retry_failed.queue)
         and (retry_failed.lane is null or t.lane = retry_failed.lane)
       limit 10001);
    -- The planner reads each of them.
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

  with held as materialized (
    select r.job_id from postrider_internal.results r
     where r.job_id = any (v_plain) and r.state = 'f' order by r.job_id for update skip locked),
  keyed as materialized (
    select h.job_id, j.queue, j.dedupe_key,
           row_number() over (partition by j.queue, j.dedupe_key order by j.id desc) as nth
      from held h join postrider.jobs j on j.id = h.job_id),
  free as materialized (
    select k.job_id from keyed k
     where case when k.dedupe_key is null then true
                when k.nth > 1 then false
                else postrider_internal.take_dedupe_key(k.queue, k.dedupe_key, k.job_id) is null end),
  gone as (
    delete from postrider_internal.results r using free h where r.job_id = h.job_id returning r.*),
  named as materialized (
    select g.job_id, g.state, case when g.track <= 0 then g.track
      else coalesce(t.id, 0) end as track, g.track > 0 as is_counted
      from gone g left join postrider_internal.tracks t on t.id = g.track),
  tried as (
    insert into postrider_internal.past_attempts (job_id, fence, started_at, finished_at, worker, attempt, dns_us,
                                                  connect_us, tls_us,
      first_byte_us, total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent,
      bytes_received, cache,
      server, credential_version, ended_as)
    select g.job_id, g.fence, g.started_at, g.finished_at, g.worker, g.attempt, g.dns_us, g.connect_us, g.tls_us,
      g.first_byte_us, g.total_us, g.status_code, g.reused, g.http_version, g.error_code, g.remote_ip, g.error,
      g.bytes_sent, g.bytes_received, g.cache, g.server, g.credential_version, g.state
      from gone g where g.fence > 0),
  tally as (
    insert into postrider_internal.job_deltas (at, tracks, states, jobs, queue, ended)
    select timestamptz '-infinity', array[n.track], array[n.state], array[-count(*)::int], q.name,
           case when (select exists (select from postrider.client_limits)) then array_agg(-n.job_id) end
      from named n
     cross join lateral (
           select case when n.track = 0 then (select j.queue from postrider.jobs j
                                              where j.id = n.job_id) end as name offset 0) q
     where n.is_counted group by n.track, n.state, q.name
    union all
    -- Not in job_totals, but in the counts of clients.
    select timestamptz '-infinity', '{}', '{}', '{}', null, array_agg(-n.job_id)
      from named n where not n.is_counted and (select exists (select from postrider.client_limits)) having count(*)
        > 0),
  again as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          has_callbacks)
    select nextval('postrider.jobs_id_seq'), g.job_id, postrider_internal.job_track(g.track, g.job_id), g.attempt,
           g.attempt + j.max_attempts, g.rekey,
           j.delivery = 'at_most_once', j.expires_at, postrider_internal.has_callbacks(j)
      from (select * from gone order by job_id) g
      join postrider.jobs j on j.id = g.job_id)
  select count(*), min(g.job_id) into v_count, v_first from gone g;
  if v_count > 0 then
    -- prune_range relies on this row, as on the row of reopen_job.
    insert into postrider_internal.rerun_jobs (first_id) values (v_first);
    perform postrider_internal.notify_idle_workers();
  end if;

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
  'retries failed jobs that match all filters (null: any); returns how many, a batch or chain counts once';
