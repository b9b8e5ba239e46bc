-- SPDX-License-Identifier: Apache-2.0
-- jsonb stores 1e100000 in a few bytes and writes it out with 100,000 digits. If a row holds 10 MB of such numbers,
-- PostgreSQL cannot print it, and a view with this row fails as a whole. Up to a hundred such numbers are accepted.
--
-- The first condition searches the text for candidates, the second checks the numbers. It uses an array, because
-- jsonb_path_query needs quadratic time to return a million values.
create or replace function postrider_internal.has_endless_numbers(p_text text, p_json jsonb) returns boolean
language plpgsql immutable parallel safe
as $$
begin
  if p_text !~ '[0-9.][eE][+-]?0*[1-9][0-9]{3}' then
    return false;
  end if;
  return (
    select count(*) > 100
      from jsonb_array_elements(jsonb_path_query_array(p_json, 'strict $.** ? (@.type() == "number")')) n
     where scale(n::numeric) > 999 or abs(n::numeric) > 1e999);
end
$$;
comment on function postrider_internal.has_endless_numbers(text, jsonb) is
  'whether JSON holds more than a hundred numbers with a thousand or more digits when written out';
