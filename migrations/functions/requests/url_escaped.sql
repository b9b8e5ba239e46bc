-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.url_escaped(p_text text) returns text
language plpgsql immutable strict parallel safe
as $$
begin
  if p_text !~ '[^A-Za-z0-9._~-]' then
    return p_text;
  end if;
  return (
    select string_agg(
             case when c.letter ~ '[A-Za-z0-9._~-]' and ascii(c.letter) < 128 then c.letter
                  else regexp_replace(upper(encode(convert_to(c.letter, 'UTF8'), 'hex')), '(..)', E'%\\1', 'g') end,
             '' order by c.place)
      from regexp_split_to_table(p_text, '') with ordinality as c(letter, place));
end
$$;
comment on function postrider_internal.url_escaped(text) is
  'a name or value for the query of a URL: all except letters, digits and ._~- percent-encoded, as the worker does';
