-- SPDX-License-Identifier: Apache-2.0
-- RFC 9110, 5.5 does not define bytes beyond ASCII. Bytes that are valid UTF-8 are nearly always UTF-8; otherwise the
-- line is Latin-1. Each line is decided alone. The pattern describes UTF-8 as in RFC 3629, 4, over the bytes read as
-- Latin-1.
create or replace function postrider_internal.header_text(p_headers bytea) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := convert_from(p_headers, 'LATIN1');
  v_utf8 constant text := E'^([\\u0001-\\u007f]|[\\u00c2-\\u00df][\\u0080-\\u00bf]|\\u00e0[\\u00a0-\\u00bf][\\u0080-\\u00bf]'
    || E'|[\\u00e1-\\u00ec\\u00ee\\u00ef][\\u0080-\\u00bf]{2}|\\u00ed[\\u0080-\\u009f][\\u0080-\\u00bf]'
    || E'|\\u00f0[\\u0090-\\u00bf][\\u0080-\\u00bf]{2}|[\\u00f1-\\u00f3][\\u0080-\\u00bf]{3}|\\u00f4[\\u0080-\\u008f][\\u0080-\\u00bf]{2})*$';
begin
  if v_text !~ E'[\\u0080-\\u00ff]' then
    return v_text;
  end if;
  return (
    select string_agg(case when l.line ~ v_utf8 then convert_from(convert_to(l.line, 'LATIN1'), 'UTF8')
                      else l.line end, E'\n' order by l.place)
      from string_to_table(v_text, E'\n') with ordinality l (line, place));
end
$$;
comment on function postrider_internal.header_text(bytea) is
  'the header lines of an answer as text: lines of valid UTF-8 as UTF-8, all others as Latin-1';
