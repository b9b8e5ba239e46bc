-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Runs after finish and applies the ended calls to the cache. An attempt without a lease stores nothing and lets the
-- next job in line make the call.
--
-- store_new_answers stores the new entries of the batch at once. If it fails, the loop stores each answer alone.
--
-- An open transaction that has called cache_invalidate may hold an entry. This waits 20 ms for the first such entry and
-- 1 ms for each further one. It runs at the end of a call, and a timeout would lose its whole batch. An answer not
-- stored for this reason may be good, so the first job in line makes the next call.
--
-- Lock order: cache_flights by key, then entries by base and key, then scheduled.
create or replace function postrider_internal.end_cache_flights(
  p_worker int, p_app_version text, p_attempts postrider_internal.finished_attempt[], p_done bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_calls postrider_internal.cache_flights[];
  v_stored bigint[] := '{}';               -- jobs whose answers store_new_answers has stored
  v_call record;
  v_job postrider.jobs;
  v_service postrider.services;
  v_attempt postrider_internal.finished_attempt;
  v_serves boolean;
  v_is_locked boolean;
  v_lock_timeout text := '20ms';           -- lock_timeout for the next entry
  v_timeout constant text := current_setting('lock_timeout');
  v_keys bytea[] := '{}';
  v_all boolean[] := '{}';                 -- whether to release all jobs that wait for the key, or the first
begin
  v_calls := postrider_internal.take_cache_flights(p_attempts);
  if v_calls is null then
    return;
  end if;
  -- An error while an answer is stored must never roll back its batch.
  begin
    perform set_config('lock_timeout', v_lock_timeout, true);
    v_stored := postrider_internal.store_new_answers(v_calls, p_attempts, p_done, p_app_version);
    perform set_config('lock_timeout', v_timeout, true);
  exception
    when lock_not_available then
      v_lock_timeout := '1ms';
    when others then
      null;                                -- the loop finds the answer at fault
  end;
  select coalesce(array_agg(c.key), '{}'), coalesce(array_agg(true), '{}') into v_keys, v_all
    from unnest(v_calls) c where c.leads and c.job_id = any (v_stored);
  for v_call in
    -- The key of a variant does not show its base, and this may insert the row of the base. So all variants of one base
    -- come first, then those with the next base.
    select e.*, x as attempt, j as job, s as service
      from unnest(v_calls) e join unnest(p_attempts) x on x.job_id = e.job_id
      join postrider.jobs j on j.id = any (array[e.job_id]) left join postrider.services s on s.name = j.service
     where e.job_id <> all (v_stored)
     order by e.base, e.key, e.job_id
  loop
    v_attempt := v_call.attempt;
    v_serves := false;
    v_is_locked := false;
    if v_attempt.seq = any (p_done) and v_attempt.verdict = 's' then
      v_job := case when (v_call.job).parent_id is null then v_call.job
                    else postrider_internal.filled_job(v_call.job) end;
      v_service := v_call.service;
      if v_service.has_servers then
        v_service := postrider_internal.keyed_service(v_service, p_worker);
      end if;
      v_serves := true;
      -- An error while an answer is stored must never roll back its batch.
      begin
        perform set_config('lock_timeout', v_lock_timeout, true);
        if v_attempt.cache = 'stale' then
          update postrider.cache_entries e set failed_at = clock_timestamp(), last_used = clock_timestamp()
            where e.key = v_call.key;
        elsif v_attempt.cache = 'revalidated' then
          v_serves := postrider_internal.confirm_cache_entry(
            v_call.key, v_call.etag, v_call.last_modified, v_job, v_service, v_attempt.headers, p_app_version);
        elsif postrider_internal.has_own_rule(v_call.job_id, v_call.fence) then
          v_is_locked := true;             -- the call of the next job may bring an answer to store
          v_serves := false;
        elsif v_call.base = postrider_internal.cache_key(v_job, v_service) then
          v_serves := postrider_internal.store_cache_entry(
            v_call.base, v_job, v_service, v_attempt.status::int, v_attempt.headers, v_attempt.body, v_attempt.encoding,
            p_app_version, coalesce(v_attempt.redirected, false));
          if v_serves and v_service.cache_mode = 'http' then
            select f.fresh > interval '0' into v_serves
              from postrider_internal.http_freshness(v_attempt.headers, clock_timestamp()) f;
          end if;
        else
          -- Another user has logged in, or the service has another base. Jobs look for another key now.
          v_serves := false;
        end if;
        perform set_config('lock_timeout', v_timeout, true);
      exception
        when lock_not_available then
          v_lock_timeout := '1ms';
          v_is_locked := true;
          v_serves := false;
        when others then
          v_serves := false;
      end;
      if not v_serves and not v_is_locked then
        -- No job can be served by such answers. For a minute no job waits for one, and all waiting jobs are released
        -- now.
        insert into postrider_internal.uncacheable_keys as p (key, until)
        values (v_call.key, clock_timestamp() + '1 min') on conflict (key) do update set until = excluded.until;
        v_serves := true;
      end if;
    elsif v_call.is_conditional and v_attempt.status = 304 and v_attempt.redirected then
      -- The URL now redirects elsewhere. The next attempt must not revalidate this answer. A locked entry is skipped.
      update postrider.cache_entries e set etag = null, last_modified = null
       where e.ctid = any (array(
               select o.ctid from postrider.cache_entries o
                where o.key = v_call.key and o.etag is not distinct from v_call.etag
                  and o.last_modified is not distinct from v_call.last_modified
                  for no key update skip locked));
    end if;
    if v_call.leads then
      v_keys := v_keys || v_call.key;
      v_all := v_all || v_serves;
    end if;
  end loop;
  if v_keys <> '{}' then
    perform postrider_internal.release_cache_waits(v_keys, v_all);
  end if;
end
$$;
comment on function postrider_internal.end_cache_flights(int, text, postrider_internal.finished_attempt[], bigint[]) is
  'stores answers of calls that were made for the cache, and releases the jobs that waited for them';
