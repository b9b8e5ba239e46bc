-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.template_paths(p_value text) returns setof text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select distinct postrider_internal.template_path(p.part)
    from unnest(case when position('{{' in p_value) > 0
                then postrider_internal.template_parts(p_value) end) with ordinality as p(part, place)
   where p.place % 2 = 0
$$;
comment on function postrider_internal.template_paths(text) is
  'the distinct paths of the templates in a text; null for one with invalid syntax';
