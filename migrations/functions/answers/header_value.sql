-- SPDX-License-Identifier: Apache-2.0
-- Takes linear time for all bytes that a server may send: blanks are removed after the match, not by it. A value longer
-- than any useful one counts as absent, because code that parses it may need more than linear time.
create or replace function postrider_internal.header_value(p_headers bytea, p_name text) returns text
language plpgsql immutable parallel safe
as $$
declare
  v_text text := postrider_internal.header_text(p_headers);
begin
  -- Most headers that are asked for are absent. This check takes 1 µs, and the match 20.
  if v_text !~ ('(?in)^' || p_name || ':') then
    return null;
  end if;
  return (
    select case when length(v.value) <= 8000 then v.value end
      from (select string_agg(btrim(m.part[1], E' \t'), ', ' order by m.place) as value
              from regexp_matches(v_text, '^' || p_name || E':([^\\n]*)$', 'gin')
                   with ordinality as m(part, place)) v);
end
$$;
comment on function postrider_internal.header_value(bytea, text) is
  'the value of a header of an answer, several joined by commas; null: absent or over 8000 characters';
