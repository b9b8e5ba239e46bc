-- SPDX-License-Identifier: Apache-2.0
-- Leaves out the query of the URL, because it may hold keys.
create or replace function postrider_internal.describe_row(p_place bigint, p_url text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('row %s', p_place)
      || coalesce(', url "' || regexp_replace(
           left(postrider_internal.url_without_login(split_part(split_part(p_url, '?', 1), '#', 1)), 200),
           E'[\\x01-\\x1f\\x7f]', '?', 'g') || '"', '')
$$;
comment on function postrider_internal.describe_row(bigint, text) is
  'DETAIL of an error about one of several rows: its number in the statement, and its URL without password and query';
