-- SPDX-License-Identifier: Apache-2.0
-- Services, credentials and callbacks that a job names must exist when it is inserted. For a member that expand
-- inserts, this was checked with its batch. If one of them was deleted since, the member ends like any other job: with
-- error_code config, or with an error of its callback. All other rules are checked for such members, too.
create or replace function postrider_internal.job_defect(p_job postrider.jobs, out column_name text, out reason text,
                                                         out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_service postrider.services;
  v_most bigint;
  v_bytes bigint;
  v_is_new boolean := not postrider_internal.is_being_expanded(p_job.parent_id);   -- false: expand inserts it
begin
  if p_job.operation is not null and p_job.operation_revision is null then
    begin
      p_job := postrider_internal.apply_operation(p_job);
    exception when sqlstate 'PR001' then
      get stacked diagnostics column_name = column_name, reason = message_text, hint = pg_exception_hint;
      reason := substr(reason, length('jobs.: ' || column_name) + 1);
      return;
    end;
  end if;
  select d.* into column_name, reason, hint from postrider_internal.common_defect(p_job) d;
  if column_name is not null then
    return;
  end if;

  select d.c, format('there is no callback %s', quote_literal(d.n)),
         'Ask the owner of the schema to insert it into postrider.callbacks.'
    into column_name, reason, hint
    from (values (p_job.on_success, 'on_success'), (p_job.on_failure, 'on_failure')) as d(n, c)
   where v_is_new and d.n is not null and not exists (select from postrider.callbacks b where b.name = d.n) limit 1;
  if column_name is not null then
    return;
  end if;
  if p_job.parent_id is not null or p_job.each is not null then
    select d.column_name, d.reason, d.hint into column_name, reason, hint
      from postrider_internal.job_template_defect(p_job) d;
    if column_name is not null then
      return;
    end if;
  end if;
  if p_job.callback_url is not null then
    select 'callback_url', d.reason, d.hint into column_name, reason, hint
      from postrider_internal.url_defect(p_job.callback_url) d
     where d.reason is not null;
    if column_name is not null then
      return;
    end if;
  end if;

  if p_job.service is not null then
    select * into v_service from postrider.services s where s.name = p_job.service;
    if not found and v_is_new then
      column_name := 'service';
      reason := format('there is no service %s', quote_literal(p_job.service));
      hint := 'Insert it into postrider.services first.';
      return;
    end if;
  end if;
  if v_is_new and p_job.credential <> 'none'
    and not exists (select from postrider.credentials c where c.name = p_job.credential) then
    column_name := 'credential';
    reason := format('there is no credential %s', quote_literal(p_job.credential));
    hint := 'Insert it into postrider.credentials first.';
    return;
  end if;
  if p_job.kind <> 'request' then
    select d.column_name, d.reason, d.hint into column_name, reason, hint from postrider_internal.tree_defect(p_job) d;
    return;
  end if;

  select d.* into column_name, reason, hint from postrider_internal.target_defect(p_job, v_service, v_is_new) d;
  if column_name is not null then
    return;
  end if;

  select d.* into column_name, reason, hint from postrider_internal.request_defect(p_job) d;
  if column_name is not null then
    return;
  end if;

  if v_is_new and postrider_internal.is_small_body(p_job) is not true then
    v_most := (select s.max_request_body from postrider.settings s);
    v_bytes := postrider_internal.body_bytes(p_job, v_most);
    if v_bytes > v_most then
      column_name := case when p_job.body is not null then 'body' when p_job.body_json is not null then 'body_json'
                          when p_job.body_form is not null then 'body_form' else 'body_parts' end;
      reason := format('has %s bytes or more as it is sent, and %s are allowed (settings.max_request_body)', v_bytes,
                       v_most);
      hint := 'Send it as a file of body_parts, or have an admin raise the setting.';
      return;
    end if;
  end if;

  if p_job.paginate is not null then
    select 'paginate', d.reason, d.hint into column_name, reason, hint from postrider_internal.page_defect(p_job) d
     where d.reason is not null;
    if column_name is not null then
      return;
    end if;
  end if;

  if p_job.response_format <> 'raw' or p_job.result_type <> 'any' or p_job.require_data
     or num_nonnulls(p_job.validator, p_job.extract, p_job.rules) > 0 then
    select d.column_name, d.reason, d.hint into column_name, reason, hint
      from postrider_internal.answer_defect(p_job) d;
  end if;
end
$$;
comment on function postrider_internal.job_defect(postrider.jobs) is
  'the first column of a job that breaks a rule, the reason and a hint; nulls: valid';
