-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.template_names(p_value text) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct p.path[1]), '{}')
    from postrider_internal.template_paths(p_value) as p(path)
   where p.path is not null
$$;
comment on function postrider_internal.template_names(text) is
  'the names at the start of the templates in a text, including prev and item; for jsonb pass each of json_strings';
