-- SPDX-License-Identifier: Apache-2.0
-- after: answers/jsonpath_is_cheap.sql, rules/is_rule_path.sql
-- Each cheap path visits each value of the answer a few times. The limit of the sum keeps that true for a whole list.
create or replace function postrider_internal.rules_are_cheap(p_rules jsonb) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(bool_and(postrider_internal.jsonpath_is_cheap(x.path::jsonpath)), true)
         and coalesce(sum(length(x.path)), 0) <= 2000
    from jsonb_array_elements(p_rules) r
   cross join lateral (
         values (r ->> 'if'), (case when postrider_internal.is_rule_path(r ->> 'error') then r ->> 'error' end),
           (case when postrider_internal.is_rule_path(r ->> 'wait') then r ->> 'wait' end)) as x(path)
   where x.path is not null
$$;
comment on function postrider_internal.rules_are_cheap(jsonb) is
  'whether all paths of a list of rules take time in proportion to the answer; false: unknown';
