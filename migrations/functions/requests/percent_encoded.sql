-- SPDX-License-Identifier: Apache-2.0
-- Encodes all characters except the unreserved ones of RFC 3986, 2.3. So no character of the result has a special
-- meaning in any part of a URL.
create or replace function postrider_internal.percent_encoded(p_text text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case
      when p_text !~ '[^A-Za-z0-9._~-]' then p_text
      else (
        select string_agg(case
                 when b.value between 48 and 57 or b.value between 65 and 90 or b.value between 97 and 122
                   or b.value in (45, 46, 95, 126)
                   then chr(b.value)
                 else '%' || upper(lpad(to_hex(b.value), 2, '0')) end, '' order by b.place)
          from (select get_byte(t.bytes, n.place) as value, n.place
                  from (select convert_to(p_text, 'UTF8') as bytes) t
                 cross join lateral generate_series(0, octet_length(t.bytes) - 1) as n(place)) b)
    end);
end
$$;
comment on function postrider_internal.percent_encoded(text) is
  'a value for any part of a URL: its UTF-8 bytes, all except letters, digits and -._~ as %XX';
