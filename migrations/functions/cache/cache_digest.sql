-- SPDX-License-Identifier: Apache-2.0
-- SHA-256 over lines that cannot merge. Only two parts can hold a line feed: the namespace, whose length comes before
-- it, and the body, which is last. Arguments of the URL, the job and the service are separate lines. jsonb is canonical
-- already.
--
-- Uses no SQL functions and queries, which PostgreSQL would start anew for each key (100 µs). The parameters are
-- columns: rows of 50 columns would be split and joined on the way (5 µs). The callers set the search_path, because
-- setting it here takes 2 µs more.
--
-- An answer to one user never serves another: a job that sends Authorization or Cookie has separate entries.
--
-- Null: the answer is not cached. One case is a user or password in the URL. The answer belongs to that user, and the
-- password must not be recoverable, not even from a hash by guessing.
create or replace function postrider_internal.cache_digest(
  p_method text, p_url text, p_use_cdn boolean, p_base_url text, p_cdn_url text, p_query jsonb, p_service_query jsonb,
  p_headers jsonb, p_service_headers jsonb, p_body bytea, p_body_json jsonb, p_body_form jsonb, p_body_parts jsonb,
  p_ignore text[], p_space text) returns bytea
language plpgsql immutable parallel safe
as $$
declare
  v_url text := p_url;
  v_query text := '';
  v_owner text := '';
  v_pairs text[] := '{}';
  v_pair text;
  v_place int;
  v_base text;
  v_head text;
begin
  v_base := case when p_use_cdn then coalesce(p_cdn_url, p_base_url) else p_base_url end;
  if v_base is not null and not postrider_internal.url_is_absolute(v_url) then
    v_url := case when v_url ~ '^[A-Za-z0-9]' and v_url !~ E'/\\.' and v_base !~ '[?#]' then
                    case when v_base like '%/' then v_base || v_url else v_base || '/' || v_url end
                  else postrider_internal.url_join(v_base, v_url) end;
  end if;
  if v_url like '%@%' and v_url ~ '^[A-Za-z][A-Za-z0-9+.-]*:/*[^/?#]*@' then
    return null;
  end if;
  if position('#' in v_url) > 0 then
    v_url := split_part(v_url, '#', 1);
  end if;
  if position('?' in v_url) > 0 then
    v_query := substr(v_url, position('?' in v_url) + 1);
    v_url := split_part(v_url, '?', 1);
    if length(v_query) - length(replace(v_query, '&', '')) > 50 then
      -- Sorts in the same order as the insertion sort below, which would take seconds for thousands of arguments. For a
      -- few arguments a query takes longer.
      v_query := array_to_string(array(
        select p.pair
          from string_to_table(v_query, '&') with ordinality as p(pair, place)
         where p.pair <> '' and (split_part(p.pair, '=', 1) = any (p_ignore)) is not true
         order by split_part(p.pair, '=', 1) collate "C", p.place), '&');
    elsif position('&' in v_query) > 0 or p_ignore <> '{}' then
      foreach v_pair in array string_to_array(v_query, '&') loop
        continue when v_pair = '' or split_part(v_pair, '=', 1) = any (p_ignore);
        v_place := cardinality(v_pairs);
        while v_place > 0 and split_part(v_pairs[v_place], '=', 1) > split_part(v_pair, '=', 1) collate "C" loop
          v_place := v_place - 1;
        end loop;
        v_pairs := v_pairs[:v_place] || v_pair || v_pairs[v_place + 1:];
      end loop;
      v_query := array_to_string(v_pairs, '&');
    end if;
  end if;
  if num_nonnulls(p_service_headers, p_headers) > 0
     and lower(concat(p_service_headers, p_headers) collate "C") ~ '"(proxy-)?authorization"|"cookie"' then
    v_owner := encode(sha256(convert_to(concat(
      jsonb_path_query_array(p_service_headers,
                             '$.keyvalue() ? (@.key like_regex "^((proxy-)?authorization|cookie)$" flag "i").value'::jsonpath),
      jsonb_path_query_array(p_headers,
                             '$.keyvalue() ? (@.key like_regex "^((proxy-)?authorization|cookie)$" flag "i").value'::jsonpath)),
      'UTF8')), 'hex');
  end if;
  v_head := concat(p_method, E'\n', v_url, E'\n', v_query, E'\n', nullif(p_query - p_ignore, '{}'), E'\n',
    nullif(p_service_query - p_ignore, '{}'), E'\n', length(p_space), ':', p_space, E'\n', v_owner, E'\n',
    case when p_body is not null then 'b'
         when p_body_json is not null then 'j' || case
           when jsonb_typeof(p_body_json) = 'object' then p_body_json - p_ignore else p_body_json end::text
         when p_body_form is not null then 'f' || (p_body_form - p_ignore)::text
         when p_body_parts is not null then 'p' || p_body_parts::text end, E'\n');
  return sha256(case when p_body is null then convert_to(v_head, 'UTF8') else convert_to(v_head, 'UTF8') || p_body end);
end
$$;
comment on function postrider_internal.cache_digest(
  text, text, boolean, text, text, jsonb, jsonb, jsonb, jsonb, bytea, jsonb, jsonb, jsonb, text[], text) is
  'the key of a cache entry: hash of method, URL, arguments, body, namespace and owner';
