-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.job_queue(p_id bigint) returns text
language sql stable
as $$
  select j.queue from postrider.jobs j where j.id = p_id
$$;
comment on function postrider_internal.job_queue(bigint) is 'the queue of a job';
