-- SPDX-License-Identifier: Apache-2.0
-- The worker sends the value back unchanged. A value that cannot be sent would fail each later job for that answer: a
-- control character, bytes beyond ASCII, several values, 100 kB. So such a value counts as absent.
create or replace function postrider_internal.cache_tag(p_headers bytea, p_name text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text := postrider_internal.header_value(p_headers, p_name);
begin
  return case
    when p_name <> 'etag' then case when postrider_internal.http_time(v_value) is not null then v_value end
    when v_value ~ E'^(W/)?("[\\x21\\x23-\\x7e]{0,250}"|[\\x21\\x23-\\x2b\\x2d-\\x7e]{1,250})$' then v_value end;
end
$$;
comment on function postrider_internal.cache_tag(bytea, text) is
  'the ETag or Last-Modified of an answer, if a request can carry it back';
