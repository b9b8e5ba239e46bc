-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Separate from begin_job, because hooks run under the settings of begin_job. The fence alone identifies the lease,
-- because the worker may have another number by now. If expires_at has passed, the job ends here in the same way as in
-- expire.
--
-- This function does not wait for a locked row. Hooks of this transaction may hold locks that the other transaction
-- waits for.
create or replace function postrider_internal.confirm_lease(p_track int, p_seq bigint, p_fence bigint,
                                                            p_job bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row postrider_internal.ready;
  v_last postrider_internal.past_attempts;
begin
  select r.* into v_row from postrider_internal.ready r
   where r.track = p_track and r.seq = p_seq and r.fence = p_fence and r.worker > 0;
  if not found then
    return false;
  elsif (v_row.expires_at <= clock_timestamp()) is not true then
    return true;
  end if;
  delete from postrider_internal.ready r
   where r.ctid = (select x.ctid from postrider_internal.ready x
                    where x.track = p_track and x.seq = p_seq and x.fence = p_fence
                      and x.worker > 0 for update skip locked);
  if not found then
    return null;
  end if;
  select t.* into v_last from postrider_internal.past_attempts t where t.job_id = p_job order by t.fence desc limit 1;
  perform postrider_internal.end_job(
    p_job, case when v_last.job_id is null then 'e' else 'f' end::"char", coalesce(v_last.error_code, 'expired'),
    case when v_last.job_id is null then 'not started before expires_at'
         else coalesce(v_last.error, 'expires_at came before the next call')
           || '; no time was left for another attempt' end,
    v_row.parent_id, v_row.has_callbacks, v_row.track, v_row.attempt - 1, v_row.rekey, v_last.started_at,
    p_status => v_last.status_code);
  return false;
end
$$;
comment on function postrider_internal.confirm_lease(int, bigint, bigint, bigint) is
  'true while the lease holds; false if it is lost or the job expired and was ended here; null: row locked, try again';
