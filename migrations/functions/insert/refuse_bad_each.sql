-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refuse_bad_each(p_each jsonb, p_defaults jsonb, p_job bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
  v_hint text;
begin
  if jsonb_typeof(p_each) <> 'object' or p_each ? 'each' then
    v_reason := 'must be an object with list and do';
    v_hint := 'Like {"list": "{{list.body.ids}}", "do": {"url": "/users/{{item}}"}}.';
  else
    -- In a spec the key of the list is "each".
    select '$' || replace(d.below, '.each', '.list') || ': ' || d.reason,
           replace(d.hint, '"each"', '"list"') into v_reason, v_hint
      from postrider_internal.each_defect(case when p_each ? 'list'
                                          then p_each - 'list' || jsonb_build_object('each', p_each -> 'list')
                                      else p_each end) d
     where d.reason is not null;
    if v_reason is null then
      select '$.list: ' || d.reason, d.hint into v_reason, v_hint
        from postrider_internal.json_strings(p_each -> 'list') s (value) cross
          join lateral postrider_internal.template_defect(s.value) d
       where d.reason is not null limit 1;
    end if;
    if v_reason is null then
      begin
        perform postrider_internal.spec_check(p_each -> 'do', '$.do', true, p_defaults);
      exception when sqlstate 'PR001' or sqlstate 'PR006' then
        get stacked diagnostics v_reason = message_text, v_hint = pg_exception_hint;
      end;
    end if;
  end if;
  if v_reason is not null then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'each',
      message = 'jobs.each: ' || v_reason, detail = p_job::text, hint = v_hint;
  end if;
end
$$;
comment on function postrider_internal.refuse_bad_each(jsonb, jsonb, bigint) is
  'raises PR001 for an each that breaks a rule, with the id of the job as DETAIL';
