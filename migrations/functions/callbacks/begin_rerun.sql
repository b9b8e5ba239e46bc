-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.begin_rerun(p_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state "char";
begin
  select r.state into v_state from postrider_internal.results r where r.job_id = p_id for update;
  if not found then
    raise exception using errcode = case when exists (select from postrider.jobs j where j.id = p_id) then 'PR005'
      else 'PR003' end,
      message = format('job %s has not finished, or does not exist', p_id),
      hint = 'A callback runs when its job has finished; see select postrider.explain(id).';
  end if;
  if not exists (select from postrider_internal.callables(p_id, v_state, false) c where c.key = 'callback') then
    raise exception using errcode = 'PR005',
      message = format('job %s %s, but has no callback for this state', p_id, postrider_internal.state_name(v_state)),
      hint = 'Give on_success or on_failure when you insert a job.';
  end if;
  delete from postrider_internal.callback_failures f where f.job_id = p_id and f.callback is not null;
end
$$;
comment on function postrider_internal.begin_rerun(bigint) is
  'locks a finished job for rerun_callback and deletes its callback failures; raises PR005 without a callback';
