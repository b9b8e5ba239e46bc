-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.header_value(p_headers bytea, p_name text) returns text
language sql immutable parallel safe
as $$
  select string_agg(m.part[1], ', ' order by m.place)
    from regexp_matches(convert_from(p_headers, 'LATIN1'), '^' || p_name || E':[ \\t]*(.*?)[ \\t]*$', 'gin')
         with ordinality as m(part, place)
$$;
comment on function postrider.header_value(bytea, text) is
  'private: the value of a header in the lines of an answer, several joined by commas; null if there is none';
