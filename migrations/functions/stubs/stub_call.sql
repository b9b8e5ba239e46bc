-- SPDX-License-Identifier: Apache-2.0
-- p_url: the URL of the call with filled templates, as in jobs.url. The arguments of services.query do not count.
create or replace function postrider_internal.stub_call(p_url text, p_query text[], p_use_cdn boolean,
                                                        p_service postrider.services, out path text, out query text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_base constant text := case when p_use_cdn then coalesce(p_service.cdn_url, p_service.base_url)
    else p_service.base_url end;
  v_url constant text := postrider_internal.url_join(v_base, p_url);
  v_root text;
begin
  query := coalesce(p_query, '{}') || array(
    select convert_from(postrider_internal.url_unescaped(n.part), 'UTF8')
      from string_to_table(nullif(substring(v_url from E'\\?([^#]*)'), ''), '&') with ordinality a (pair, place)
     cross join lateral (values (1, split_part(a.pair, '=', 1)),
                           (2, substr(a.pair, length(split_part(a.pair, '=', 1)) + 2))) as n(side, part)
     order by a.place, n.side);
  if not postrider_internal.url_is_absolute(v_url) then
    path := '/' || ltrim(substring(v_url from '^[^?#]*'), '/');
  elsif v_base is null or postrider_internal.url_origin(v_url) = postrider_internal.url_origin(v_base)
     or postrider_internal.service_has_origin(p_service.name, p_service.base_url, p_service.cdn_url, v_url) then
    path := coalesce(nullif(substring(v_url from '^[A-Za-z]+://[^/?#]*([^?#]*)'), ''), '/');
    v_root := rtrim(substring(v_base from '^[A-Za-z]+://[^/?#]*([^?#]*)'), '/');
    if path like replace(replace(v_root, '%', E'\\%'), '_', E'\\_') || '/%' then
      path := substr(path, length(v_root) + 1);
    end if;
  end if;
  path := convert_from(postrider_internal.url_unescaped(replace(path, '+', '%2B')), 'UTF8');
exception when data_exception then
  -- The bytes of the URL are no text. It fits only stubs without path and query.
  path := null;
  query := '{}';
end
$$;
comment on function postrider_internal.stub_call(text, text[], boolean, postrider.services) is
  'the decoded path of a call below the base of its service, null for another origin, and its arguments';
