-- SPDX-License-Identifier: Apache-2.0
-- RFC 3986, 5.2. Unlike in url_join, the last segment of the base is a file and is replaced. Spaces and characters
-- outside ASCII that servers failed to encode are percent-encoded, as in browsers.
create or replace function postrider_internal.url_resolve(p_base text, p_url text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_url text := split_part(btrim(p_url, E' \t\r\n'), '#', 1);
  v_path text := substring(p_base from '^[^?#]*');
begin
  if v_url ~ '[^!-~]' then
    select string_agg(case when c.letter ~ E'[!-~\\x01-\\x1f\\x7f]' then c.letter
                           else regexp_replace(upper(encode(convert_to(c.letter, 'UTF8'), 'hex')), '(..)', E'%\\1',
                                               'g') end,
                      '' order by c.place)
      into v_url
      from regexp_split_to_table(v_url, '') with ordinality as c(letter, place);
  end if;
  return case
    when v_url = '' then split_part(p_base, '#', 1)
    when left(v_url, 1) = '?' then v_path || v_url
    else postrider_internal.url_join(regexp_replace(v_path, '^([A-Za-z]+://[^/]*)(/.*/|/)?[^/]*$', E'\\1\\2'), v_url)
  end;
end
$$;
comment on function postrider_internal.url_resolve(text, text) is
  'the absolute URL, without fragment, of a reference in the answer to a call of p_base';
