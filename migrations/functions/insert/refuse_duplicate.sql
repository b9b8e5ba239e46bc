-- SPDX-License-Identifier: Apache-2.0
-- A row that breaks a rule is refused even if on_duplicate is skip. Checking all rules takes ten times as long as the
-- quick check for a valid row. The row is in an array, because PL/pgSQL copies a record each time it is named, here a
-- hundred times.
create or replace function postrider_internal.refuse_duplicate(p_job postrider.jobs, p_holder bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row postrider.jobs[];
  v_service postrider.services;
begin
  if p_job.on_duplicate = 'error' then
    raise unique_violation using schema = 'postrider', table = 'jobs', column = 'dedupe_key',
      message = format('jobs.dedupe_key: job %s of queue %s has this key and has not finished', p_holder,
                       quote_ident(p_job.queue)),
      hint = 'Wait until that job ends, or cancel it. With on_duplicate ''skip'', the INSERT leaves the row out.';
  end if;
  v_row := array[p_job];
  select * into v_service from postrider.services s where s.name = p_job.service;
  if (num_nonnulls(p_job.parent_id, p_job.on_success, p_job.on_failure) = 0
      and case when p_job.operation is null then postrider_internal.is_valid_with_service(v_row[1], v_service)
               else postrider_internal.is_valid_with_operation(v_row[1]) end
      and postrider_internal.is_small_body(v_row[1])) is not true then
    perform postrider_internal.refuse_bad_job(p_job);
  end if;
end
$$;
comment on function postrider_internal.refuse_duplicate(postrider.jobs, bigint) is
  'for a job whose dedupe_key an unfinished job has: raises 23505, or with on_duplicate skip PR001 if it is invalid';
