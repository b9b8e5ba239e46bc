-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.cache_spec(p_spec jsonb) returns postrider.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job postrider.jobs;
  v_key text;
  v_message text;
  v_defect record;
begin
  if p_spec is null or jsonb_typeof(p_spec) <> 'object' then
    raise exception using errcode = 'PR006', message = '$: the spec must be an object',
      hint = 'Like {"service": "billing", "url": "/rates"}; the keys are the columns of postrider.jobs.';
  end if;
  select k into v_key
    from jsonb_object_keys(p_spec) k
   where not exists (
           select from pg_attribute a
            where a.attrelid = 'postrider.jobs'::regclass and a.attname = k and a.attnum > 0 and not a.attisdropped
              and a.attname not in ('id', 'created_at', 'created_by'))
   limit 1;
  if found then
    raise exception using errcode = 'PR006', message = format('$.%s: no such key', v_key),
      hint = 'The keys are the columns of postrider.jobs.';
  elsif coalesce(p_spec -> 'kind', 'null') not in ('null', '"request"') then
    raise exception using errcode = 'PR006',
      message = '$.kind: must be request, because only answers to requests are cached',
      hint = 'Leave it out.';
  end if;
  begin
    v_job := jsonb_populate_record(null::postrider.jobs, p_spec - 'body' || jsonb_build_object(
      'kind', 'request', 'created_at', now(), 'created_by', current_user));
    v_job.body := convert_to(p_spec ->> 'body', 'UTF8');
  exception when others then
    get stacked diagnostics v_message = message_text;
    raise exception using errcode = 'PR006', message = format('$: %s', v_message),
      hint = 'Write each value as the column of postrider.jobs takes it.';
  end;
  v_job.queue := coalesce(v_job.queue, 'default');
  v_job.priority := coalesce(v_job.priority, 0);
  v_job.run_at := coalesce(v_job.run_at, now());
  v_job.max_attempts := coalesce(v_job.max_attempts, 5);
  v_job.delivery := coalesce(v_job.delivery, 'at_least_once');
  v_job.on_duplicate := coalesce(v_job.on_duplicate, 'error');
  v_job.method := upper(coalesce(v_job.method, 'GET') collate "C");
  v_job.use_cdn := coalesce(v_job.use_cdn, false);
  v_job.login_required := coalesce(v_job.login_required, false);
  v_job.response_format := coalesce(v_job.response_format, 'raw');
  v_job.result_type := coalesce(v_job.result_type, 'any');
  v_job.cache_version := coalesce(v_job.cache_version, 0);
  v_job.ignore_cache := coalesce(v_job.ignore_cache, false);
  v_job.mode := coalesce(v_job.mode, 'all');
  v_job.notify := coalesce(v_job.notify, false);
  v_job.cache_ttl := coalesce(v_job.cache_ttl, interval '1 hour');
  select * into v_defect from postrider_internal.job_defect(v_job);
  if v_defect.column_name is not null then
    raise exception using errcode = 'PR006', message = format('$.%s: %s', v_defect.column_name, v_defect.reason),
      hint = v_defect.hint;
  end if;
  if v_job.operation is not null then
    v_job := postrider_internal.apply_operation(v_job);
  end if;
  return v_job;
end
$$;
comment on function postrider_internal.cache_spec(jsonb) is
  'the job that a spec for cache_put describes, checked by the rules of jobs but not inserted';
