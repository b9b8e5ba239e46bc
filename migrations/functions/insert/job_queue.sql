-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.job_queue(p_id bigint) returns text
language sql stable
as $$
  select j.queue from postrider.jobs j where j.id = p_id
$$;
comment on function postrider.job_queue(bigint) is 'private: the queue of a job';
