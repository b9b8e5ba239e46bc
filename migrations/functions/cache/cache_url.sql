-- SPDX-License-Identifier: Apache-2.0
-- Whoever puts an argument into the URL and whoever puts it into query send the same request. The server's rules are
-- about requests, so in http mode they have one key: a PUT must find what a GET has left, however either is written.
create or replace function postrider_internal.cache_url(p_url text, p_query jsonb, p_common jsonb,
                                                        p_ignore text[]) returns text
language sql immutable parallel safe
as $$
  select postrider_internal.url_query(
    split_part(p_url, '#', 1),
    coalesce(postrider_internal.query_beside(p_common - p_ignore, p_url), '{}') || coalesce(p_query - p_ignore, '{}'))
$$;
comment on function postrider_internal.cache_url(text, jsonb, jsonb, text[]) is
  'http mode: a job''s URL with the arguments of its query and of its service, as its key has it';
