-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.end_job(
  p_job bigint, p_state "char", p_code text, p_error text, p_parent bigint, p_has_callbacks boolean,
  p_track int default 0,
  p_attempt int default 0, p_rekey smallint default 0, p_started timestamptz default null, p_fence bigint default 0,
  p_worker int default 0, p_status smallint default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not postrider_internal.store_job_end(p_job, p_state, p_code, p_error, p_parent, p_has_callbacks, p_track,
                                          p_attempt, p_rekey, p_started, p_fence, p_worker, p_status)
     and p_parent is not null then
    perform postrider_internal.count_ended_members(array[p_parent], array[p_job], array[p_state]);
  end if;
end
$$;
comment on function postrider_internal.end_job(
  bigint, "char", text, text, bigint, boolean, int, int, smallint, timestamptz, bigint, int, smallint) is
  'stores the final state of a job that ended without a complete call, and counts it in its batch or chain';
