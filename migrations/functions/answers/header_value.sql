-- SPDX-License-Identifier: Apache-2.0
-- Linear in the lines, whatever a server puts into them: blanks are taken off after the match, not by it. What is
-- longer than anything that a server means counts as absent, since whoever reads a value may take longer than that for
-- each character.
create or replace function postrider_internal.header_value(p_headers bytea, p_name text) returns text
language sql immutable parallel safe
as $$
  select case when length(v.value) <= 8000 then v.value end
    from (select string_agg(btrim(m.part[1], E' \t'), ', ' order by m.place) as value
            from regexp_matches(postrider_internal.header_text(p_headers), '^' || p_name || E':([^\\n]*)$', 'gin')
                 with ordinality as m(part, place)) v
$$;
comment on function postrider_internal.header_value(bytea, text) is
  'the value of a header in the lines of an answer, several joined by commas; null if there is none, or one of over 8000 characters';
