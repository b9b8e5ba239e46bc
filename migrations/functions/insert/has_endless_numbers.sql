-- SPDX-License-Identifier: Apache-2.0
-- jsonb keeps 1e100000 in a few bytes and writes it out with 100,000 digits: 10 MB of such numbers cannot be shown any
-- more, and a view that holds one such row fails as a whole. A hundred of them are let through. The first condition
-- finds what may be such a number, the second looks at the numbers themselves (through an array: jsonb_path_query needs
-- squared time to hand out a million values).
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
  'whether JSON holds more than a hundred numbers that take a thousand digits and more to write out'
;
