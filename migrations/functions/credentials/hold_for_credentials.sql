-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Handles the claimed jobs with a credential. A job that cannot be called ends here. A job that needs a token in
-- refresh waits in scheduled, without a counted attempt, for release_credential_waits, at most 15 s.
--
-- If an API refuses each token, all jobs except the probe of release_token_probe wait 5 min at a time, max_wait in all.
--
-- Locks of all credentials together are waited for at most 500 ms, or the caller's lock_timeout if that is less. One
-- open transaction may have changed all credentials.
create or replace function postrider_internal.hold_for_credentials(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_names text[];
  v_verdicts "char"[] := '{}';
  v_codes text[] := '{}';
  v_errors text[] := '{}';
  v_timeout constant text := current_setting('lock_timeout');
  v_until constant timestamptz := clock_timestamp()
    + least(interval '500 ms', nullif(v_timeout::interval, interval '0'));
  v_environment constant text := (select w.environment from postrider_internal.workers w where w.id = p_worker);
begin
  v_names := array(
    select distinct n.name
      from (select coalesce(postrider_internal.used_credential(j.credential, s.credential), case when j.login_required
                            then '' end) as name
              from unnest(p_job) as x(job)
              join postrider.jobs j on j.id = any (array[x.job])
              left join postrider.services s on s.name = j.service) n
     where n.name is not null
     order by n.name);
  if v_names = '{}' then
    return '{}';
  end if;
  for i in 1 .. cardinality(v_names) loop
    perform set_config(
      'lock_timeout', least(500, greatest(1, extract(epoch from v_until - clock_timestamp()) * 1000))::int::text, true);
    select v_verdicts || f.verdict, v_codes || f.code, v_errors || f.error
      into v_verdicts, v_codes, v_errors
      from postrider_internal.decide_credential_step(v_names[i]) f;
  end loop;
  perform set_config('lock_timeout', v_timeout, true);

  with decided as materialized (           -- otherwise each FILTER below would compute the verdict anew
    select x.*, f.name, w.job_id is not null as has_waited,
           coalesce(w.held_at, now()) as held_at, g.max_wait,
           case when g.step = 'w' and w.is_failed then 'r'
                when g.step = 'p' and now() - w.held_at >= g.max_wait then 'f'
                when g.step is not null then g.step
                when not postrider_internal.can_carry_credential(c, j, s, coalesce(d.url, j.url), v_environment)
                  then 'f' end::"char" as verdict,
           case g.step when 'w' then 'refresh_failed' when 'p' then 'rejected_after_refresh'
             else coalesce(f.code, 'config') end as code,
           case when g.step = 'p' then format(
                  'the API refused the token of credential %s for longer than max_wait (%s); check its scope and place, log in and retry the job',
                  f.name, g.max_wait)
                when g.step = 'w' then format(
                  'the token of credential %s could not be refreshed: %s; see its row and token endpoint',
                  f.name, coalesce((select r.last_error from postrider_internal.refreshes r
                                    where r.credential = f.name), 'no reason is known'))
                else coalesce(f.error, format(
                  'credential %s may not be sent to the origin of the job''s URL; add it to credentials.allowed_origins and retry the job', f.name)) end as error
      from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
      join postrider.jobs j on j.id = any (array[x.job])
      left join postrider.services s on s.name = j.service
      left join lateral (
           select r.url from postrider_internal.filled_templates r
             where r.job_id = j.id and j.parent_id is not null limit 1) d on true
      join unnest(v_names, v_verdicts, v_codes, v_errors) as f(name, verdict, code, error)
        on f.name = coalesce(postrider_internal.used_credential(j.credential, s.credential), case when j.login_required
                             then '' end)
      left join postrider.credentials c on c.name = f.name
      left join postrider_internal.refreshes h on h.credential = f.name
     cross join lateral (
           select case when f.verdict <> 'p' or h.probe_job is distinct from j.id then f.verdict end as step,
                  coalesce(s.max_wait, interval '24 hours') as max_wait) g
      left join postrider_internal.credential_waits w on w.job_id = x.job)
  select array_agg(f.job) filter (where f.verdict is not null) as done,
         array_agg(f.job) filter (where f.verdict in ('w', 'p')) as waiting,
         array_agg(f.name) filter (where f.verdict in ('w', 'p')) as wanted,
         array_agg(case f.verdict when 'p' then f.held_at end) filter (where f.verdict in ('w', 'p')) as held,
         array_agg(case f.verdict when 'w' then now() + interval '15 s'
                                  else now() + least(interval '5 min', f.max_wait - (now() - f.held_at)) end)
           filter (where f.verdict in ('w', 'p')) as until,
         array_agg(f.job) filter (where f.has_waited and coalesce(f.verdict not in ('w', 'p'), true)) as waited,
         array_agg(postrider_internal.unsent_attempt(f.track, f.seq, f.fence, f.verdict, f.code, f.error)
                   order by f.track, f.seq)
           filter (where f.verdict in ('f', 'r')) as ended
    into v
    from decided f;

  if v.ended is not null then
    perform postrider_internal.finish_unreported(p_worker, v.ended);
  end if;
  if v.waited is not null then
    delete from postrider_internal.credential_waits w where w.job_id = any (v.waited);
  end if;
  if v.waiting is not null then
    with gone as (
      delete from postrider_internal.ready r
       using (select l.spot, x.fence
                from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
               cross join lateral (
                     select r.ctid as spot from postrider_internal.ready r
                       where r.track = x.track and r.seq = x.seq offset 0) l
               where x.job = any (v.waiting)) x
       where r.ctid = x.spot and r.fence = x.fence and r.worker = p_worker
      returning r.*),
    placed as (
      select g.*, array_position(v.waiting, g.job_id) as at from gone g),
    noted as (
      insert into postrider_internal.credential_waits as w (job_id, credential, seq, run_at, held_at)
      select g.job_id, v.wanted[g.at], g.seq, v.until[g.at], v.held[g.at] from placed g
          on conflict (job_id) do update
             set credential = excluded.credential, seq = excluded.seq, run_at = excluded.run_at, is_failed = false,
                 held_at = coalesce(w.held_at, excluded.held_at))
    insert into postrider_internal.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once,
                                              expires_at, parent_id, has_callbacks)
    select v.until[g.at], g.job_id, g.track, g.attempt - 1, g.max_attempts, g.rekey, g.at_most_once,
           g.expires_at, g.parent_id, g.has_callbacks
      from placed g;
  end if;
  return coalesce(v.done, '{}');
end
$$;
comment on function postrider_internal.hold_for_credentials(int, int[], bigint[], bigint[], bigint[]) is
  'ends claimed jobs whose credential cannot be used, and lets jobs wait for a token in refresh; returns both';
