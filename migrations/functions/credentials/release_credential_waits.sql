-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Skips locked rows, because other transactions are promoting, cancelling or moving them. A transaction about to wait
-- locks the credential's row (for share), and the caller has changed that row before. So no waiting job is missed.
--
-- p_failed: the refresh has failed often. hold_for_credentials then ends the attempt of each of these jobs with
-- refresh_failed.
create or replace function postrider_internal.release_credential_waits(p_credential text, p_failed boolean,
    p_job bigint default null) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moved int := 0;
begin
  with due as materialized (
    select a.spot, s.place, a.seq
      from (select a.ctid as spot, a.job_id, a.run_at, a.seq from postrider_internal.credential_waits a
             where a.credential = p_credential and (p_job is null or a.job_id = p_job)
               order by a.credential, a.seq offset 0) a
     cross join lateral (
           select s.ctid as place from postrider_internal.scheduled s
            where s.job_id = a.job_id and s.run_at = a.run_at for update skip locked) s),
  gone as (
    delete from postrider_internal.scheduled s using due d where s.ctid = d.place returning s.*, d.seq, d.spot),
  unwaited as (
    delete from postrider_internal.credential_waits w using gone g where w.ctid = g.spot and not p_failed),
  marked as (
    update postrider_internal.credential_waits w set is_failed = true from gone g where w.ctid = g.spot and p_failed)
  insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                        parent_id, has_callbacks)
  select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt, o.max_attempts, o.rekey, o.at_most_once,
         o.expires_at, o.parent_id, o.has_callbacks
    from (select * from gone g order by g.seq) o;
  get diagnostics v_moved = row_count;
  if v_moved > 0 then
    perform postrider_internal.notify_idle_workers();
  end if;
  return v_moved;
end
$$;
comment on function postrider_internal.release_credential_waits(text, boolean, bigint) is
  'makes jobs that wait for a credential ready, all or one (p_failed: as a failed attempt); returns how many';
