-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.wants_fresh(p_headers jsonb) returns boolean
language sql immutable parallel safe
as $$
  select jsonb_path_exists(p_headers, '$.keyvalue() ? ((@.key like_regex "^cache-control$" flag "i"
    && @.value like_regex "no-cache|max-age=0" flag "i") || (@.key like_regex "^pragma$" flag "i"
    && @.value like_regex "no-cache" flag "i"))')
$$;
comment on function postrider_internal.wants_fresh(jsonb) is
  'http mode: whether the job''s own headers ask to revalidate an answer before it serves';
