-- SPDX-License-Identifier: Apache-2.0
-- Of the claimed jobs given, those with a credential: who cannot be called ends here, without a call; who needs a token that is
-- being fetched leaves the worker for scheduled, no attempt used, until credential_release. The 15 s are for the case that
-- nobody releases it.
--
-- Locks of credentials are waited for for 500 ms, or for as long as the caller waits for locks if that is less, all of them together: an open transaction may have changed every one.
create or replace function postrider.credential_hold(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v record;
  v_names text[];
  v_verdicts "char"[] := '{}';
  v_codes text[] := '{}';
  v_errors text[] := '{}';
  v_timeout constant text := current_setting('lock_timeout');
  v_until constant timestamptz := clock_timestamp() + least(interval '500 ms', nullif(v_timeout::interval, interval '0'));
  v_environment constant text := (select w.environment from postrider.workers w where w.id = p_worker);
begin
  v_names := array(
    select distinct n.name
      from (select coalesce(j.credential, s.credential, case when j.login_required then '' end) as name
              from unnest(p_job) as x(job)
              join postrider.jobs j on j.id = x.job
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
      from postrider.credential_fate(v_names[i]) f;
  end loop;
  perform set_config('lock_timeout', v_timeout, true);

  with fated as (
    select x.*, f.name, w.job_id is not null as has_waited,
           case when f.verdict = 'w' and w.is_failed then 'r'
                when f.verdict is not null then f.verdict
                when not postrider.credential_may_go(c, j, s, coalesce(d.url, j.url), v_environment) then 'f' end::"char" as verdict,
           case when f.verdict = 'w' then 'refresh_failed' else coalesce(f.code, 'config') end as code,
           case when f.verdict = 'w' then format(
                  'the token of credential %s could not be refreshed: %s; see its row and token endpoint',
                  f.name, coalesce((select r.last_error from postrider.refreshes r where r.credential = f.name), 'no reason is known'))
                else coalesce(f.error, format(
                  'the job''s URL is not of an origin that credential %s may be sent to; add it to credentials.allowed_origins and retry the job', f.name)) end as error
      from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
      join postrider.jobs j on j.id = x.job
      left join postrider.services s on s.name = j.service
      left join lateral (
           select r.url from postrider.resolved r where r.job_id = j.id and j.parent_id is not null limit 1) d on true
      join unnest(v_names, v_verdicts, v_codes, v_errors) as f(name, verdict, code, error)
        on f.name = coalesce(j.credential, s.credential, case when j.login_required then '' end)
      left join postrider.credentials c on c.name = f.name
      left join postrider.credential_waits w on w.job_id = j.id)
  select array_agg(f.job) filter (where f.verdict is not null) as done,
         array_agg(f.job) filter (where f.verdict = 'w') as waiting,
         array_agg(f.name) filter (where f.verdict = 'w') as wanted,
         array_agg(f.job) filter (where f.has_waited and f.verdict is distinct from 'w') as waited,
         array_agg(postrider.unsent_attempt(f.track, f.seq, f.fence, f.verdict, f.code, f.error) order by f.track, f.seq)
           filter (where f.verdict in ('f', 'r')) as ended
    into v
    from fated f;

  if v.ended is not null then
    perform postrider.finish(p_worker, v.ended, false);
  end if;
  if v.waited is not null then
    delete from postrider.credential_waits w where w.job_id = any (v.waited);
  end if;
  if v.waiting is not null then
    with gone as (
      delete from postrider.ready r
       using (select l.spot, x.fence
                from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
               cross join lateral (
                     select r.ctid as spot from postrider.ready r where r.track = x.track and r.seq = x.seq offset 0) l
               where x.job = any (v.waiting)) x
       where r.ctid = x.spot and r.fence = x.fence and r.worker = p_worker
      returning r.*),
    noted as (
      insert into postrider.credential_waits (job_id, credential, seq, run_at)
      select g.job_id, v.wanted[array_position(v.waiting, g.job_id)], g.seq, now() + interval '15 s'
        from gone g
          on conflict (job_id) do update
             set credential = excluded.credential, seq = excluded.seq, run_at = excluded.run_at, is_failed = false)
    insert into postrider.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, is_followed)
    select now() + interval '15 s', g.job_id, g.track, g.attempt - 1, g.max_attempts, g.rekey, g.at_most_once,
           g.expires_at, g.parent_id, g.is_followed
      from gone g;
  end if;
  return coalesce(v.done, '{}');
end
$$;
comment on function postrider.credential_hold(int, int[], bigint[], bigint[], bigint[]) is
  'private: ends the claimed jobs whose credential cannot be used, lets those wait that need a token which is being fetched; which jobs';
