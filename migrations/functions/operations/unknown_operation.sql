-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.unknown_operation(p_name text, out reason text, out hint text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('there is no operation %s', quote_literal(left(p_name, 200))),
         coalesce((select format('Perhaps you mean %s. ', quote_literal(p.operation))
                     from postrider_internal.operation_plans p
                    where postrider_internal.edit_distance(p.operation, p_name) <= least(3, (length(p_name) + 1) / 3)
                    order by postrider_internal.edit_distance(p.operation, p_name), p.operation limit 1), '')
         || 'See select name from postrider.operations.'
$$;
comment on function postrider_internal.unknown_operation(text) is
  'reason and hint for the name of an operation that does not exist';
