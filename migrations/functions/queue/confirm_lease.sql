-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Apart from begin_job, since hooks run under its settings. The lease is told by its fence alone: the worker may have
-- another number by now. A row that is late ends here, as expire would end it; what somebody has locked is not waited
-- for, since hooks of this transaction may have locked what that one waits for.
create or replace function postrider_internal.confirm_lease(p_track int, p_seq bigint, p_fence bigint,
                                                            p_job bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row postrider_internal.ready;
  v_try postrider_internal.past_attempts;
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
  select t.* into v_try from postrider_internal.past_attempts t where t.job_id = p_job order by t.fence desc limit 1;
  perform postrider_internal.end_job(
    p_job, case when v_try.job_id is null then 'e' else 'f' end::"char", coalesce(v_try.error_code, 'expired'),
    case when v_try.job_id is null then 'not started before expires_at'
         else coalesce(v_try.error, 'expires_at came before the next call') || '; no time was left for another try' end,
    v_row.parent_id, v_row.has_callbacks, v_row.track, v_row.attempt - 1, v_row.rekey, v_try.started_at);
  return false;
end
$$;
comment on function postrider_internal.confirm_lease(int, bigint, bigint, bigint) is
  'whether a claimed job still stands under its fence and in time; one that is late ends here; null: somebody has it locked, ask again';
