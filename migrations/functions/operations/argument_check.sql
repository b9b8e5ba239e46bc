-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_values.sql, answers/validator_path.sql
-- One jsonpath checks all arguments in a microsecond. If it is not true, argument_defect finds the reason. In strict
-- mode a missing key makes a condition unknown, and a filter drops unknown like false.
create or replace function postrider_internal.argument_check(p_types jsonb) returns jsonpath
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select ('strict ' || coalesce(string_agg(
           case when t.is_optional
                then format('(!exists($ ? (exists(@.%1$s))) || $.%1$s.type() == "null" || %2$s)', t.key, t.test)
                else t.test end, ' && ' order by t.key), '1 == 1'))::jsonpath
    from (select to_json(rtrim(k.key, '?'))::text as key, k.key like '%?' as is_optional,
                 case when postrider_internal.argument_values(k.value) is not null
                      then format('(%s)', (
                             select string_agg(format('$.%s == %s', to_json(rtrim(k.key, '?')), to_json(v)), ' || ')
                               from unnest(postrider_internal.argument_values(k.value)) v))
                      when k.value = '"any"' then format('$.%s.type() != "null"', to_json(rtrim(k.key, '?')))
                      when jsonb_typeof(k.value) = 'string'
                      then format('$.%s.type() == %s', to_json(rtrim(k.key, '?')), k.value)
                      else format('exists($.%s ? (@.type() == "%s") ? %s)', to_json(rtrim(k.key, '?')),
                                  jsonb_typeof(k.value), postrider_internal.validator_path(k.value)) end as test
            from jsonb_each(p_types) k) t
$$;
comment on function postrider_internal.argument_check(jsonb) is
  'a jsonpath that is true for arguments of the given types; it does not look for unknown arguments';
