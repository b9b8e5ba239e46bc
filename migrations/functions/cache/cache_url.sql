-- SPDX-License-Identifier: Apache-2.0
-- An argument in the URL and the same argument in the column query make the same request. In http mode the rules of the
-- server apply to requests, so both have one key. For example, a PUT with the argument in query must find the entry of
-- a GET with the argument in its URL.
create or replace function postrider_internal.cache_url(p_url text, p_query jsonb, p_common jsonb,
                                                        p_ignore text[]) returns text
language sql immutable parallel safe
as $$
  select postrider_internal.url_query(
    split_part(p_url, '#', 1),
    coalesce(postrider_internal.query_without_url_names(p_common - p_ignore, p_url), '{}')
      || coalesce(p_query - p_ignore, '{}'))
$$;
comment on function postrider_internal.cache_url(text, jsonb, jsonb, text[]) is
  'http mode: the URL of a job with the arguments of its query and service, as used in its key';
