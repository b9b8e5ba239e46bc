-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.rule_statuses(p_status jsonb) returns int4multirange
language sql immutable strict parallel safe
as $$
  select case jsonb_typeof(p_status)
    when 'number' then int4multirange(int4range(p_status::int, p_status::int, '[]'))
    else (p_status #>> '{}')::int4multirange end
$$;
comment on function postrider_internal.rule_statuses(jsonb) is
  'the status of a rule, a number or a text like {[404,405)}, as ranges';
