-- SPDX-License-Identifier: Apache-2.0
-- Called for a row at INSERT, and for the URL of a member when its templates are filled.
create or replace function postrider_internal.page_argument(p_spec jsonb, p_url text, p_query jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select n.name
    from (values (p_spec ->> 'param'), (p_spec ->> 'size_param')) as n(name)
   where coalesce(p_spec ->> 'in', 'query') = 'query'
     and (p_query ? n.name
          or exists (select from string_to_table(substring(p_url from E'^[^?#]*\\?([^#]*)'), '&') as a(argument)
                      where postrider_internal.url_unescaped(split_part(a.argument, '=', 1))
                        = convert_to(n.name, 'UTF8')))
   limit 1
$$;
comment on function postrider_internal.page_argument(jsonb, text, jsonb) is
  'an argument that paginate sets for each page and that url or query already has; null: none';
