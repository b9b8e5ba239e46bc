-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.rules_defect(p_rules jsonb, out path text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_rules is null then
    return;
  elsif jsonb_typeof(p_rules) <> 'array' then
    path := '$';
    reason := 'must be an array of rules';
    hint := 'Like [{"status": 404, "do": "retry"}].';
    return;
  elsif jsonb_array_length(p_rules) > 50 then
    path := '$';
    reason := format('has %s rules, and at most 50 are allowed', jsonb_array_length(p_rules));
    hint := 'Join conditions with || in one rule.';
    return;
  end if;
  select format('$[%s]%s', r.place - 1, d.path), d.reason, d.hint into path, reason, hint
    from jsonb_array_elements(p_rules) with ordinality r (rule, place)
   cross join lateral postrider_internal.rule_defect(r.rule) d
   where d.reason is not null
   order by r.place limit 1;
end
$$;
comment on function postrider_internal.rules_defect(jsonb) is
  'why a list of answer rules is refused, with the path, and a hint; nulls: valid';
