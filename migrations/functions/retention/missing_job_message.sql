-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.missing_job_message(p_id bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('job %s does not exist', p_id)
         || coalesce((select format(': jobs with ids from %s to %s were pruned on %s', p.first_id, p.last_id, p.day)
                        from postrider_internal.prunes p where p_id between p.first_id and p.last_id
                          order by p.day desc limit 1), '')
$$;
comment on function postrider_internal.missing_job_message(bigint) is
  'the message that a job does not exist, with the last day on which jobs of its ids were pruned';
