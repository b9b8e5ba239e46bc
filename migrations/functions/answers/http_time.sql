-- SPDX-License-Identifier: Apache-2.0
-- RFC 9110 section 5.6.7: the present form, and the two obsolete forms that must still be accepted. A year of two
-- digits means 1970 to 2069.
create or replace function postrider_internal.http_time(p_text text) returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
as $$
begin
  if p_text ~ E'^[A-Z][a-z]{2}, [0-9][0-9] [A-Z][a-z]{2} [0-9]{4} [0-9][0-9]:[0-9][0-9]:[0-9][0-9] GMT$'
     or p_text ~ E'^[A-Z][a-z]{5,8}, [0-9][0-9]-[A-Z][a-z]{2}-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] GMT$' then
    return substr(p_text, position(',' in p_text) + 2)::timestamptz;
  elsif p_text ~ E'^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] [0-9]{4}$' then
    return (substr(p_text, 5, 6) || right(p_text, 5) || substr(p_text, 11, 9) || ' GMT')::timestamptz;
  end if;
  return null;
exception when others then
  return null;
end
$$;
comment on function postrider_internal.http_time(text) is
  'an HTTP date in the present form or one of the two obsolete forms; null for other text';
