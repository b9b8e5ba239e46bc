-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, no-bitmapscan
create or replace function postrider_internal.intake_list(p_id bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
  v_list bigint;
begin
  select j.queue, j.priority, postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane into v_job
    from postrider.jobs j where j.id = p_id;
  select i.id into v_list from postrider_internal.intake i
   where i.lane is not null and -i.priority::int = -v_job.priority::int and i.queue = v_job.queue
     and i.lane = v_job.lane
     and p_id between i.first_id and i.last_id and (i.ids is null or p_id = any (i.ids))
   limit 1;
  if v_list is null then
    select i.id into v_list from postrider_internal.intake i
     where i.lane is null and i.bucket = any (postrider_internal.intake_buckets(v_job.queue, v_job.lane))
       and p_id between i.first_id and i.last_id and p_id = any (i.ids)
     limit 1;
  end if;
  return v_list;
end
$$;
comment on function postrider_internal.intake_list(bigint) is
  'the intake list that holds a job; null if no list holds it';
