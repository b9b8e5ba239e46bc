-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.answer_defect(p_job postrider.jobs, out column_name text, out reason text,
                                                            out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.rules is not null then
    select 'rules', format('%s %s', d.path, d.reason), d.hint into column_name, reason, hint
      from postrider_internal.rules_defect(p_job.rules) d
     where d.reason is not null;
    if column_name is not null then
      return;
    end if;
  end if;
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_job.response_format not in ('raw', 'json', 'xml'),
     'response_format', 'must be raw, json or xml', 'Leave it out for raw.'),
    (p_job.result_type not in ('any', 'list', 'object'),
     'result_type', 'must be any, list or object', 'Leave it out for any.'),
    (p_job.response_format = 'xml' and p_job.validator is not null,
     'validator', 'is for JSON, and response_format is xml', 'Leave one of them out.'),
    (p_job.response_format = 'xml' and p_job.extract is not null,
     'extract', 'is for JSON, and response_format is xml', 'Leave one of them out.'),
    (p_job.response_format = 'xml' and p_job.result_type <> 'any',
     'result_type', 'is for JSON, and response_format is xml', 'Leave one of them out.'),
    (p_job.response_format = 'xml' and p_job.require_data,
     'require_data', 'is for JSON, and response_format is xml', 'Leave one of them out.'),
    (p_job.extract is not null and postrider_internal.jsonpath_text_defect(p_job.extract) is not null,
     'extract', postrider_internal.jsonpath_text_defect(p_job.extract), 'Like $.data.result or $.items[*].id.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  if p_job.method = 'HEAD' or p_job.download_to is not null then
    column_name := case
      when p_job.response_format <> 'raw' then 'response_format'
      when p_job.validator is not null then 'validator'
      when p_job.extract is not null then 'extract'
      when p_job.result_type <> 'any' then 'result_type'
      when p_job.require_data then 'require_data' end;
    if column_name is not null then
      reason := case when p_job.method = 'HEAD' then 'needs a body, but the answer to HEAD has none'
                     else 'needs to read the answer, but download_to writes it to a file' end;
      hint := format('Leave %s out.', column_name);
      return;
    end if;
  end if;

  select 'validator', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.validator_defect(p_job.validator) d
   where d.reason is not null;
end
$$;
comment on function postrider_internal.answer_defect(postrider.jobs) is
  'the first column of a job with an impossible rule for the answer, the reason and a hint; null: valid';
