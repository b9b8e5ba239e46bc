-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- The lock keeps INSERTs into the range out while it is scanned. A job that ends meanwhile was not found and is kept.
-- Only the drop locks all jobs, and waits at most 100 ms for that. This is longer than a claim takes, and short enough
-- for the sessions that wait behind it. Copying ten thousand rows takes another 100 ms.
--
-- A job found to have ended may run again meanwhile. retry holds a lock on results until its commit, and has written to
-- rerun_jobs before. Once the drop has its lock, all such rows are visible to a new snapshot.
--
-- If a job of the range, or of a tree that may reach into it, was retried, the drop rolls back with its locks. The scan
-- is repeated a minute later; such old jobs are seldom retried.
--
-- Rows in rerun_jobs from before the scan are not needed, because the scan saw the jobs they name.
--
-- The kept rows go to the overflow with its triggers off. They were checked at their INSERT, and other jobs may own
-- their dedupe_keys by now.
create or replace function postrider_internal.prune_range(
  p_worker int, p_epoch bigint, p_part text, p_first bigint, p_end bigint, p_ended timestamptz, p_failed timestamptz)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
set work_mem = '64MB'
as $$
declare
  v_jobs bigint;
  v_keep bigint[];
  v_bytes bigint;
begin
  if not postrider_internal.leads(p_worker, p_epoch) then
    return null;
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    return null;
  end if;
  execute format('lock table postrider_internal.jobs_%s in share mode nowait', p_part);
  if not pg_try_advisory_xact_lock(1886351474, -1) then
    raise lock_not_available using message = 'another worker checks a range';
  end if;
  delete from postrider_internal.rerun_jobs;
  execute format($q$
    select array_agg(k.id), coalesce(sum(k.bytes), 0)
      from (select j.id, pg_column_size(j.*) + coalesce(pg_column_size(r.*), 0) as bytes
              from postrider_internal.jobs_%1$s j
              left join postrider_internal.results_%1$s r on r.job_id = j.id
              left join lateral (
                   select t.root_id from postrider_internal.trees t
                    where t.job_id = case when j.kind = 'request' then j.parent_id else j.id end offset 0) t on true
             where r.job_id is null
                or not postrider_internal.is_job_past_retention(
                         t.root_id, j.parent_id is null and j.kind = 'request', r.state, r.finished_at, $1, $2)
                or j.callback_url is not null and postrider_internal.has_pending_webhook(j.id)
             limit 10001) k
  $q$, p_part) into v_keep, v_bytes using p_ended, p_failed;
  if cardinality(v_keep) > 10000 or v_bytes > 67108864 then
    return null;
  end if;
  execute format('select count(*) from postrider_internal.jobs_%s', p_part) into v_jobs;
  lock table only postrider_internal.results, only postrider.jobs in access exclusive mode;
  if exists (select from postrider_internal.rerun_jobs x where x.first_id < p_end) then
    raise lock_not_available using message = 'a job was retried during the check';
  end if;
  -- The scan may have taken longer than the lease.
  if not postrider_internal.leads(p_worker, p_epoch) then
    raise lock_not_available using message = 'another worker has become the leader';
  end if;
  execute format('alter table postrider_internal.results detach partition postrider_internal.results_%s', p_part);
  execute format('alter table postrider.jobs detach partition postrider_internal.jobs_%s', p_part);
  if v_keep is not null then
    alter table postrider_internal.jobs_overflow disable trigger user;
    execute format('insert into postrider_internal.jobs_overflow overriding system value select j.* from postrider_internal.jobs_%s j where j.id = any ($1)', p_part)
      using v_keep;
    alter table postrider_internal.jobs_overflow enable trigger user;
    execute format('insert into postrider_internal.results_overflow select r.* from postrider_internal.results_%s r where r.job_id = any ($1)', p_part)
      using v_keep;
  end if;
  execute format('drop table postrider_internal.results_%1$s, postrider_internal.jobs_%1$s', p_part);
  insert into postrider_internal.prune_leftovers (first_id, last_id) values (coalesce(p_first, 1), p_end - 1);
  perform postrider_internal.record_prune(coalesce(p_first, 1), p_end - 1, v_jobs - coalesce(cardinality(v_keep), 0));
  return v_jobs - coalesce(cardinality(v_keep), 0);
end
$$;
comment on function postrider_internal.prune_range(int, bigint, text, bigint, bigint, timestamptz, timestamptz) is
  'leader: drops a range of old jobs and moves up to ten thousand others to the overflow; null: more must stay';
