-- SPDX-License-Identifier: Apache-2.0
-- Runs before the INSERT of each row, so a skipped duplicate is never inserted and RETURNING does not show it. A row
-- that breaks a rule passes and takes no key; queue_new_jobs refuses it by its column. A tag or queue beyond its limit
-- is refused here, because an index may be unable to take it.
--
-- One trigger does all of this, because the executor evaluates the condition of each trigger for each row. PostgreSQL
-- parses the condition anew in each INSERT, so it is short. A list of the methods took 15 µs in a session that has
-- been idle.
--
-- If a row does not fit its operation, it stays without operation_revision, and queue_new_jobs refuses it.
--
-- insert_spec_jobs sets postrider.inherits to off, because it has already copied the values of the parent.
create or replace function postrider_internal.check_new_job() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent postrider.jobs;
  v_holder bigint;
  v_row postrider.jobs[];
  v_service postrider.services;
  v_refusal record;
begin
  if new.operation is not null then
    if new.kind <> 'request' and current_setting('postrider.inherits', true) is distinct from 'off' then
      perform postrider_internal.raise_column_error('jobs', 'operation', 'cannot be given with a batch or chain',
                                                    'Use postrider.call or postrider.submit.');
    end if;
    begin
      new := postrider_internal.apply_operation(new);
    exception when sqlstate 'PR001' then
      new.operation_revision := null;
      return new;
    end;
  end if;
  if length(new.tag) > 400 or length(new.queue) > 200 then
    select * into v_refusal from postrider_internal.job_defect(new);
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = v_refusal.column_name,
      message = format('jobs.%s: %s', v_refusal.column_name, v_refusal.reason), hint = v_refusal.hint;
  end if;
  if new.parent_id is not null
     and (new.operation is not null or current_setting('postrider.inherits', true) is distinct from 'off') then
    select * into v_parent from postrider.jobs j
     where j.id = new.parent_id and j.kind <> 'request'
       and (j.created_by = new.created_by or postrider_internal.sees_all(new.created_by));
    if found then
      new.queue := case new.queue when 'default' then v_parent.queue else new.queue end;
      new.priority := case new.priority when 0 then v_parent.priority else new.priority end;
      new.timeout := coalesce(new.timeout, v_parent.timeout);
      -- The same rule as in spec_inherits.
      if new.service is null and v_parent.service is not null
         and postrider_internal.url_is_absolute(new.url) is not true then
        new.service := v_parent.service;
        new.credential := coalesce(new.credential, v_parent.credential);
      end if;
      if new.traceparent is null then
        new.traceparent := v_parent.traceparent;
        new.tracestate := coalesce(new.tracestate, v_parent.tracestate);
      end if;
    end if;
  end if;
  if new.method <> upper(new.method collate "C") then
    new.method := upper(new.method collate "C");
  end if;
  if new.each is not null then
    new.each := postrider_internal.each_times(new.each, new.parent_id);
  end if;
  if new.dedupe_key is null or new.queue is null or new.on_duplicate in ('error', 'skip') is not true
    or length(new.dedupe_key) not between 1 and 1000 then
    return new;
  end if;
  v_holder := postrider_internal.take_dedupe_key(new.queue, new.dedupe_key, new.id);
  if v_holder is null then
    return new;
  elsif new.on_duplicate = 'skip' then
    -- A row that breaks a rule is refused even if its key is in use. Checking all rules takes ten times as long as the
    -- quick check for a valid row. The row is in an array, because PL/pgSQL copies a record each time it is named, here
    -- a hundred times.
    v_row := array[new];
    select * into v_service from postrider.services s where s.name = new.service;
    if (num_nonnulls(new.parent_id, new.on_success, new.on_failure) = 0
        and case when new.operation is null then postrider_internal.is_valid_with_service(v_row[1], v_service)
                 else postrider_internal.is_valid_with_operation(v_row[1]) end
        and postrider_internal.is_small_body(v_row[1])) is not true then
      perform postrider_internal.refuse_bad_job(new);
    end if;
    return null;
  end if;
  raise unique_violation using schema = 'postrider', table = 'jobs', column = 'dedupe_key',
    message = format('jobs.dedupe_key: job %s of queue %s has this key and has not finished', v_holder,
                     quote_ident(new.queue)),
    hint = 'Wait until that job ends, or cancel it. With on_duplicate ''skip'', the INSERT leaves the row out.';
end
$$;
comment on function postrider_internal.check_new_job() is
  'row trigger of jobs: checks dedupe_key, tag and queue, copies values from the parent, normalizes each and method';

create or replace trigger jobs_row
  before insert on postrider.jobs
  for each row when (
    new.dedupe_key is not null or new.operation is not null or new.each is not null
    or length(new.tag) > 400 or length(new.queue) > 200
    or new.parent_id is not null and current_setting('postrider.inherits', true) is distinct from 'off'
    or new.method <> upper(new.method collate "C")) execute function postrider_internal.check_new_job();
