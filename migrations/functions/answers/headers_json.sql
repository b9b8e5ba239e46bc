-- SPDX-License-Identifier: Apache-2.0
-- after: answers/header_text.sql
create or replace function postrider_internal.headers_json(p_headers bytea) returns jsonb
language sql immutable strict parallel safe
begin atomic
  select coalesce(jsonb_object_agg(h.name, h.value), '{}')
    from (
      select split_part(l.line, ': ', 1) as name,
             jsonb_agg(substring(l.line from position(': ' in l.line) + 2) order by l.place) as value
        from string_to_table(postrider_internal.header_text(p_headers), E'\n') with ordinality as l(line, place)
       where l.line <> ''
       group by 1) h;
end;
comment on function postrider_internal.headers_json(bytea) is
  'header lines as an object of name to array of values, in arrival order';
