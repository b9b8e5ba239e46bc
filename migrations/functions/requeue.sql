-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.requeue(p_worker int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_moved int;
begin
  with gone as (
    delete from postrider.ready r where r.worker = p_worker returning r.*)
  insert into postrider.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, is_followed, tried)
  select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt - 1, o.max_attempts, o.rekey, o.at_most_once,
         o.expires_at, o.parent_id, o.is_followed, o.tried
    from (select * from gone g order by g.track, g.seq) o;
  get diagnostics v_moved = row_count;
  if v_moved > 0 then
    perform postrider.wake();
  end if;
  return v_moved;
end
$$;
comment on function postrider.requeue(int) is
  'private: makes leases of an ended worker that were never called ready again; how many';
