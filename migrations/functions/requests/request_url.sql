-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_with_masked_query.sql
-- p_common: the arguments that the service adds to this call. p_shows_common: the reader may read these values in
-- services. p_token: the argument in which the credential sends its token; null: none.
--
-- Most jobs have an absolute URL without a query, which takes no longer than url_without_login.
create or replace function postrider_internal.request_url(
  p_url text, p_query jsonb, p_base text, p_common jsonb, p_shows_common boolean, p_token text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_url text := p_url;
  v_common jsonb;
  v_masked text[] := '{}';
begin
  if p_common is not null then
    v_common := case when position('?' in p_url) > 0 then postrider_internal.query_without_url_names(p_common, p_url)
      else p_common end;
    if p_query is not null then
      v_common := v_common - array(select k from jsonb_object_keys(p_query) k);
    end if;
    if p_shows_common is not true then
      v_masked := array(select postrider_internal.url_escaped(k) from jsonb_object_keys(v_common) k);
    end if;
  end if;
  if p_base is not null then
    v_url := postrider_internal.url_join(p_base, v_url);
  end if;
  v_url := postrider_internal.url_without_login(split_part(v_url, '#', 1));
  if p_token is null then
    v_url := postrider_internal.url_query(v_url, v_common);
    v_url := postrider_internal.url_query(v_url, p_query);
  else
    v_masked := v_masked || postrider_internal.url_escaped(p_token);
    v_url := postrider_internal.url_query(postrider_internal.url_query(postrider_internal.url_query(v_url,
        v_common - p_token), p_query - p_token),
      jsonb_build_object(p_token, ''));
  end if;
  return postrider_internal.url_with_masked_query(v_url, v_masked);
end
$$;
comment on function postrider_internal.request_url(text, jsonb, text, jsonb, boolean, text) is
  'the URL of a call with base URL and query, secrets masked';
