-- SPDX-License-Identifier: Apache-2.0
-- p_path: decoded, relative to the base and with a leading slash. p_query: decoded names and values in turn.
create or replace function postrider_internal.stub_fits(p_match jsonb, p_method text, p_path text, p_query text[])
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_match ->> 'method' = p_method, true)
     and coalesce(p_path ~ postrider_internal.stub_path_pattern(p_match ->> 'path'), not p_match ? 'path', true)
     and not exists (
         select from jsonb_each_text(p_match -> 'query') q
          where not exists (
                select from generate_series(1, cardinality(p_query), 2) i
                 where p_query[i] = q.key and p_query[i + 1] = q.value))
$$;
comment on function postrider_internal.stub_fits(jsonb, text, text, text[]) is
  'whether a call fits the match of a stub; a missing match or key fits each call';
