-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Handles claimed jobs that the cache does not serve. The first job for a key leads: it is called, and its row in
-- cache_flights shows this to all workers. A job with another cache_version, cache_sensitive or app version cannot use
-- that answer. It is called at the same time and leads no other job.
--
-- All other jobs move from ready to scheduled without a counted attempt, until release_cache_waits. They are due after
-- 15 s in case no session releases them.
--
-- A waiting job holds the leader's row (key share) until its own row in cache_waits is committed. The session that ends
-- the call deletes the leader's row first and searches for waiting jobs afterwards, so it finds all.
--
-- If the lease of a leading job is gone (reaped, cancelled, handed back), it no longer leads. This function deletes its
-- row, or the leader's duties do within a second.
--
-- Lock order: cache_flights by key, then ready by (track, seq). If the leading job has just ended, up to two more
-- rounds try to lead, out of that order. So their INSERT waits only briefly, because two workers could wait for each
-- other. After a timeout the job is called at the same time as the job that leads by now.
--
-- Waiting for the leader's row follows the order in all rounds. A session that ends a call holds its row as long as its
-- batch takes.
create or replace function postrider_internal.join_cache_flight(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[], p_base bytea[], p_key bytea[],
  p_reason text[],
  p_joins boolean[], p_etag text[], p_modified text[], p_app_version text) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left bigint[];                         -- jobs without a place so far
  v_waiting bigint[] := '{}';
  v_found bigint[];                        -- jobs that can use the answer of the leading job, so they wait
  v_parallel bigint[];                     -- jobs that cannot use it, so they are called at the same time
  v_lock_timeout text := current_setting('lock_timeout');
begin
  v_left := array(
    select x.job from unnest(p_job, p_key, p_joins) as x(job, key, joins)
     where x.joins and not exists (
             select from postrider_internal.uncacheable_keys p where p.key = x.key and p.until > clock_timestamp()));
  for i in 1 .. 3 loop
    exit when v_left = '{}';
    begin
      if i > 1 then
        perform set_config('lock_timeout', '20ms', true);
      end if;
      insert into postrider_internal.cache_flights (job_id, fence, seq, track, leads, is_conditional, base, key, reason,
                                                    etag, last_modified, app_version)
      select n.job, n.fence, n.seq, n.track, true, n.etag is not null or n.modified is not null, n.base, n.key,
             n.reason, n.etag, n.modified, p_app_version
        from (select distinct on (x.key) x.*
                from unnest(p_track, p_seq, p_fence, p_job, p_base, p_key, p_reason, p_etag, p_modified)
                  as x(track, seq, fence, job, base, key, reason, etag, modified)
               where x.job = any (v_left)
               order by x.key, x.seq) n
          on conflict do nothing;
    exception when lock_not_available then
      if i = 1 then
        raise;
      end if;
      exit;
    end;
    perform set_config('lock_timeout', v_lock_timeout, true);
    v_left := array(
      select x.job from unnest(p_fence, p_job) as x(fence, job)
       where x.job = any (v_left)
         and not exists (select from postrider_internal.cache_flights c where c.job_id = x.job and c.fence = x.fence));
    exit when v_left = '{}';
    delete from postrider_internal.cache_flights c
     where c.ctid = any (array(
             select o.ctid
               from postrider_internal.cache_flights o
              where o.leads
                and o.key = any (array(select x.key from unnest(p_job, p_key) as x(job, key)
                                       where x.job = any (v_left)))
                and not exists (
                      select from postrider_internal.ready r
                       where r.track = o.track and r.seq = o.seq and r.fence = o.fence and r.worker > 0 offset 0)
                and not (o.job_id = any (p_job) and o.fence = any (p_fence))
                for update skip locked));
    with held as materialized (
      select c.key, c.app_version, l.cache_version, l.cache_sensitive
        from postrider_internal.cache_flights c
        join postrider.jobs l on l.id = any (array[c.job_id])
       where c.leads
         and c.key = any (array(select x.key from unnest(p_job, p_key) as x(job, key) where x.job = any (v_left)))
       order by c.key
         for key share of c),
    found as (
      select x.job, h.cache_version = j.cache_version and h.cache_sensitive is not distinct from j.cache_sensitive
               and h.app_version is not distinct from p_app_version as is_served
        from unnest(p_job, p_key) as x(job, key)
        join held h on h.key = x.key
        join postrider.jobs j on j.id = any (array[x.job])
       where x.job = any (v_left))
    select coalesce(array_agg(f.job) filter (where f.is_served), '{}'),
           coalesce(array_agg(f.job) filter (where not f.is_served), '{}')
      into v_found, v_parallel from found f;
    with gone as (
      delete from postrider_internal.ready r
       using (select l.spot, x.fence
                from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
               cross join lateral (
                     select r.ctid as spot from postrider_internal.ready r
                       where r.track = x.track and r.seq = x.seq offset 0) l
               where x.job = any (v_found)) x
       where r.ctid = x.spot and r.fence = x.fence and r.worker = p_worker
      returning r.*),
    noted as (
      insert into postrider_internal.cache_waits (job_id, key, seq, run_at)
      select g.job_id, p_key[array_position(p_job, g.job_id)], g.seq, now() + interval '15 s'
        from gone g
          on conflict (job_id) do update
             set key = excluded.key, seq = excluded.seq, run_at = excluded.run_at)
    insert into postrider_internal.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once,
                                              expires_at, parent_id, has_callbacks)
    select now() + interval '15 s', g.job_id, g.track, g.attempt - 1, g.max_attempts, g.rekey, g.at_most_once,
           g.expires_at, g.parent_id, g.has_callbacks
      from gone g;
    v_waiting := v_waiting || v_found;
    v_left := array(select l from unnest(v_left) l where l <> all (v_found || v_parallel));
  end loop;
  insert into postrider_internal.cache_flights (job_id, fence, seq, track, leads, is_conditional, base, key, reason,
                                                etag, last_modified, app_version)
  select x.job, x.fence, x.seq, x.track, false, x.etag is not null or x.modified is not null, x.base, x.key, x.reason,
         x.etag, x.modified, p_app_version
    from unnest(p_track, p_seq, p_fence, p_job, p_base, p_key, p_reason, p_etag, p_modified)
      as x(track, seq, fence, job, base, key, reason, etag, modified)
   where x.job <> all (v_waiting)
      on conflict do nothing;
  return v_waiting;
end
$$;
comment on function postrider_internal.join_cache_flight(
  int, int[], bigint[], bigint[], bigint[], bytea[], bytea[], text[], boolean[], text[], text[], text) is
  'records calls made for the cache, and lets jobs that want the same answer wait; returns the waiting jobs';
