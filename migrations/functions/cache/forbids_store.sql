-- SPDX-License-Identifier: Apache-2.0
-- RFC 9111 section 5.2.1.5.
create or replace function postrider_internal.forbids_store(p_headers jsonb) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(jsonb_path_exists(p_headers,
    '$.keyvalue() ? (@.key like_regex "^cache-control$" flag "i" && @.value like_regex "no-store" flag "i")'), false)
$$;
comment on function postrider_internal.forbids_store(jsonb) is
  'http mode: whether the request''s own headers forbid to store its answer';
