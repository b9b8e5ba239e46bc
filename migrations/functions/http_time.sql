-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.http_time(p_text text) returns timestamptz
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
as $$
begin
  if p_text !~ E'^[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT$' then
    return null;
  end if;
  return substr(p_text, 6)::timestamptz;
exception when others then
  return null;
end
$$;
comment on function postrider.http_time(text) is
  'private: a date as HTTP writes it (the fixed form of RFC 9110); null for anything else';
