-- SPDX-License-Identifier: Apache-2.0
-- Like promote, it looks at what is new since p_since, and now and then at all.
create or replace function postrider.expire(p_worker int, p_epoch bigint, p_since timestamptz, p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_ended int;
begin
  with waiting as materialized (
    select r.ctid as spot
      from postrider.ready r
     where r.expires_at <= now() and r.expires_at >= coalesce(p_since, '-infinity') and r.worker = 0 and postrider.leads(p_worker, p_epoch)
     order by r.track, r.seq
     limit p_limit
       for update skip locked),
  planned as materialized (
    select s.ctid as spot
      from postrider.scheduled s
     where s.expires_at <= now() and s.expires_at >= coalesce(p_since, '-infinity') and postrider.leads(p_worker, p_epoch)
     order by s.run_at, s.job_id
     limit p_limit
       for update skip locked),
  gone as (
    delete from postrider.ready r using waiting w where r.ctid = w.spot
    returning r.job_id, r.track, r.attempt, r.rekey),
  dropped as (
    delete from postrider.scheduled s using planned p where s.ctid = p.spot
    returning s.job_id, s.track, s.attempt, s.rekey),
  ended as (
    select e.*, t.error_code, t.error, t.status_code, t.started_at
      from (select * from gone union all select * from dropped) e
      left join lateral (
           select * from postrider.tries t where t.job_id = e.job_id order by t.fence desc limit 1) t on e.attempt > 0),
  final as (
    insert into postrider.results (job_id, started_at, attempt, track, rekey, state, status_code, error_code, error)
    select e.job_id, e.started_at, e.attempt, e.track, e.rekey,
           case when e.error_code is null then 'e' else 'f' end::"char", e.status_code,
           coalesce(e.error_code, 'expired'),
           coalesce(e.error || '; no time was left for another try', 'not started before expires_at')
      from ended e
    returning track, state),
  tally as (
    insert into postrider.tallies (track, state, jobs)
    select f.track, f.state, count(*) from final f group by f.track, f.state)
  select count(*) into v_ended from final;
  return v_ended;
end
$$;
comment on function postrider.expire(int, bigint, timestamptz, int) is
  'private: leader: ends up to p_limit waiting jobs whose expires_at has passed since p_since (null: ever); expired if never tried, else failed with the last error';
