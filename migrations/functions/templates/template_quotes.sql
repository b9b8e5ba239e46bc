-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.template_quotes(p_expression text, p_step int) returns boolean
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select m.found[1] like '"%'
    from regexp_matches(p_expression, E'"[^"\\\\]+"|[^].["]+', 'g') with ordinality as m(found, place)
   where m.place = p_step
$$;
comment on function postrider_internal.template_quotes(text, int) is
  'whether a step of a template, counted as in template_path, stands in double quotes';
