-- SPDX-License-Identifier: Apache-2.0
-- If there are several lines, the last counts, as in libcurl and browsers. Bytes beyond ASCII become \nnn, so no answer
-- can make this fail. Each line of that name costs a copy of the rest, so among thousands of lines the hundredth
-- counts.
create or replace function postrider_internal.content_type(p_headers bytea) returns text
language plpgsql immutable parallel safe
as $$
declare
  v_rest bytea := E'\\x0a'::bytea || p_headers;
  v_at int;
  v_found bytea;
begin
  for i in 1 .. 100 loop
    v_at := position(E'\\x0a636f6e74656e742d747970653a'::bytea in v_rest);
    exit when v_at is null or v_at = 0;
    v_rest := substring(v_rest from v_at + 14);
    v_found := substring(v_rest from 1 for 1000);
  end loop;
  return btrim(split_part(encode(v_found, 'escape'), E'\n', 1), E' \t\r');
end
$$;
comment on function postrider_internal.content_type(bytea) is
  'the unparsed Content-Type of an answer, its first 1000 bytes; null without one';
