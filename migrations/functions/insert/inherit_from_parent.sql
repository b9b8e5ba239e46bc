-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.inherit_from_parent(p_job postrider.jobs) returns postrider.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent postrider.jobs;
begin
  select * into v_parent from postrider.jobs j
   where j.id = p_job.parent_id and j.kind <> 'request'
     and (j.created_by = p_job.created_by or postrider_internal.sees_all(p_job.created_by));
  if found then
    p_job.queue := case p_job.queue when 'default' then v_parent.queue else p_job.queue end;
    p_job.priority := case p_job.priority when 0 then v_parent.priority else p_job.priority end;
    p_job.timeout := coalesce(p_job.timeout, v_parent.timeout);
    -- The same rule as in spec_inherits.
    if p_job.service is null and v_parent.service is not null
       and postrider_internal.url_is_absolute(p_job.url) is not true then
      p_job.service := v_parent.service;
      p_job.credential := coalesce(p_job.credential, v_parent.credential);
    end if;
    if p_job.traceparent is null then
      p_job.traceparent := v_parent.traceparent;
      p_job.tracestate := coalesce(p_job.tracestate, v_parent.tracestate);
    end if;
  end if;
  return p_job;
end
$$;
comment on function postrider_internal.inherit_from_parent(postrider.jobs) is
  'a new member with queue, priority, timeout, service and trace of its parent where it gives none';
