-- SPDX-License-Identifier: Apache-2.0
-- A step is a bare word (letters of any script, digits, _ and -), a number, or any text in double quotes. Examples:
-- list.body.items[0].id, list.body.items.0.id, "my step".body["a key"], list.body[-1].
create or replace function postrider_internal.template_path(p_expression text) returns text[]
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(case when s.step like '"%' then substr(s.step, 2, length(s.step) - 2) else s.step end
                     order by s.place)
      from regexp_matches(
             case when p_expression ~ E'^(?:[^\\x01-\\x2c./:-@[-^`{-\\x7f]+|"[^"\\\\]+")(?:\\.(?:[^\\x01-\\x2c./:-@[-^`{-\\x7f]+|"[^"\\\\]+")|\\[(?:-?[0-9]{1,9}|"[^"\\\\]+")\\]){0,99}$'
                  then p_expression end,
             E'"[^"\\\\]+"|[^].["]+', 'g') with ordinality as m(found, place)
     cross join lateral (select m.found[1] as step, m.place) s);
end
$$;
comment on function postrider_internal.template_path(text) is
  'the steps of a template, of which the first is a name; null: invalid syntax';
