-- SPDX-License-Identifier: Apache-2.0
-- Counts the keys "url" in the spec of an element, because each request has one.
create or replace function postrider_internal.requests_per_element(p_each jsonb) returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select greatest(1, jsonb_array_length(jsonb_path_query_array(p_each -> 'do', 'strict $.**.url')))
$$;
comment on function postrider_internal.requests_per_element(jsonb) is
  'about how many requests each element of a batch over a list makes, at least one';
