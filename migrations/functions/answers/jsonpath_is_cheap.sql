-- SPDX-License-Identifier: Apache-2.0
-- Reads the text form of the path, in which each key is quoted. It first empties the keys. A path that passes visits
-- each value of the JSON once for each $ in it, and at most 16 are allowed. These do not pass:
-- - a filter, **, keyvalue() or like_regex; a second wildcard: they may combine all elements with all, or take
--   exponential time
-- - several subscripts, like [0,0] or [0 to 9]: in lax mode each pair of brackets multiplies the values found before
-- - a subscript that is a path
-- - the comparison of two paths, of which each may find a million values
-- - products, quotients and remainders: with two numbers of 100,000 digits they take a second
-- - datetime(), which parses each value
--
-- The first regular expression is for common paths: 2 µs instead of 5.
create or replace function postrider_internal.jsonpath_is_cheap(p_path jsonpath) returns boolean
language sql immutable parallel safe
as $$
  select octet_length(p_path::text) <= 500
     and (p_path::text ~ E'^[$]["A-Za-z0-9_.]*(\\[[*]\\])?["A-Za-z0-9_.]*$'
          or regexp_replace(p_path::text, E'"(?:[^"\\\\]|\\\\.)*"', '""', 'g')
             !~ E'[?/%,]|[*].*[*]| [*] | to |like_regex|keyvalue|datetime|\\[[^\\]]*[$]|[=<>][-+ (]*[$]|([$].*){17}')
$$;
comment on function postrider_internal.jsonpath_is_cheap(jsonpath) is
  'whether a path takes time in proportion to its JSON; false: unknown';
