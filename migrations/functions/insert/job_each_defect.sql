-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.job_each_defect(p_each jsonb, p_defaults jsonb, out reason text,
                                                              out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_each) <> 'object' or p_each ? 'each' then
    reason := 'must be an object with list and do';
    hint := 'Like {"list": "{{list.body.ids}}", "do": {"url": "/users/{{item}}"}}.';
  else
    -- In a spec the key of the list is "each".
    select '$' || replace(d.below, '.each', '.list') || ': ' || d.reason,
           replace(d.hint, '"each"', '"list"') into reason, hint
      from postrider_internal.each_defect(case when p_each ? 'list'
                                          then p_each - 'list' || jsonb_build_object('each', p_each -> 'list')
                                      else p_each end) d
     where d.reason is not null;
    if reason is null then
      select '$.list: ' || d.reason, d.hint into reason, hint
        from postrider_internal.json_strings(p_each -> 'list') s (value) cross
          join lateral postrider_internal.template_defect(s.value) d
       where d.reason is not null limit 1;
    end if;
    if reason is null then
      begin
        perform postrider_internal.spec_check(p_each -> 'do', '$.do', true, p_defaults);
      exception when sqlstate 'PR001' or sqlstate 'PR006' then
        get stacked diagnostics reason = message_text, hint = pg_exception_hint;
      end;
    end if;
  end if;
end
$$;
comment on function postrider_internal.job_each_defect(jsonb, jsonb) is
  'the first rule that an each breaks; p_defaults: columns that its members inherit';
