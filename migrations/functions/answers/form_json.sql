-- SPDX-License-Identifier: Apache-2.0
-- If a name occurs twice, the last value counts.
create or replace function postrider_internal.form_json(p_form text) returns jsonb
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(
           convert_from(postrider_internal.url_unescaped(split_part(p.pair, '=', 1)), 'UTF8'),
           convert_from(postrider_internal.url_unescaped(substr(p.pair, length(split_part(p.pair, '=', 1)) + 2)),
                        'UTF8'))
    from string_to_table(p_form, '&') as p(pair)
   where p.pair <> ''
$$;
comment on function postrider_internal.form_json(text) is
  'a form-encoded text as an object of texts; raises for bytes that are not UTF-8';
