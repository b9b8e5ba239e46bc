-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.service_defect(
  p_service postrider.services, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The error of PostgreSQL for a null would quote the whole row, including the password of a proxy.
  select d.c, 'must not be null', case d.c when 'name' then 'Choose one.'
    else 'Leave it out for its default.' end into column_name, reason, hint from (values
    (p_service.name is null, 'name'), (p_service.apply_to_absolute is null, 'apply_to_absolute'),
    (p_service.max_wait is null, 'max_wait'), (p_service.html_is_502 is null, 'html_is_502'),
    (p_service.cookies is null, 'cookies'), (p_service.gzip_request is null, 'gzip_request'),
    (p_service.cache_mode is null, 'cache_mode'), (p_service.cache_namespace is null, 'cache_namespace'),
    (p_service.cache_ignore is null, 'cache_ignore'),
    (p_service.allow_private_network is null, 'allow_private_network'),
    (p_service.created_at is null, 'created_at'), (p_service.min_calls is null, 'min_calls'),
    (p_service.has_servers is null, 'has_servers'), (p_service.error_rate is null, 'error_rate'),
    (p_service.cool_down is null, 'cool_down')
  ) as d(bad, c)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_service.name = '' or length(p_service.name) > 200,
     'name', 'must have 1 to 200 characters', 'Jobs refer to the service by this name.'),
    (extract(epoch from p_service.timeout) <= 0 or extract(epoch from p_service.timeout) > 86400,
     'timeout', 'is not a usable limit', 'Give more than 0 and at most 1 day, like ''30 s''.'),
    (extract(epoch from p_service.connect_timeout) <= 0 or extract(epoch from p_service.connect_timeout) > 3600,
     'connect_timeout', 'is not a usable limit', 'Give more than 0 and at most 1 hour, like ''5 s''.'),
    (extract(epoch from p_service.first_byte_timeout) <= 0 or extract(epoch from p_service.first_byte_timeout) > 86400,
     'first_byte_timeout', 'is not a usable limit', 'Give more than 0 and at most 1 day, like ''10 s''.'),
    (not postrider_internal.is_response_limit(p_service.max_response),
     'max_response', 'is out of range', 'Give 0 to 67108864 bytes (64 MiB).'),
    (p_service.max_wait <= interval '0' or p_service.max_wait > interval '100 years',
     'max_wait', 'must be more than 0 and at most 100 years', 'Like ''24 hours''.'),
    (p_service.cache_mode not in ('client', 'http'),
     'cache_mode', 'must be client or http', 'client: cache_ttl decides; http: the server''s Cache-Control decides.'),
    (p_service.min_calls not between 1 and 1000000,
     'min_calls', 'is out of range', 'Give 1 to 1000000: how many calls are needed to judge a server.'),
    (p_service.error_rate <= 0 or p_service.error_rate > 1,
     'error_rate', 'must be more than 0 and at most 1',
     'Like 0.10: a server is set aside when a tenth of its calls fail.'),
    (p_service.cool_down <= interval '0' or p_service.cool_down > interval '1 day',
     'cool_down', 'must be more than 0 and at most 1 day', 'Like ''30 s'': how long a server is set aside.'),
    (p_service.stale_if_error <= interval '0' or p_service.stale_if_error > interval '100 years',
     'stale_if_error', 'must be more than 0 and at most 100 years', 'Like ''10 min''; leave it out for none.'),
    (p_service.proxy !~* E'^(https?|socks5h?)://([^\\s/?#]*@)?([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$'
       or substring(p_service.proxy from ':([0-9]{1,5})/?$')::int not between 1 and 65535,
     'proxy', 'is not the URL of a proxy',
     'Like http://user:password@proxy.example.com:3128; also https, socks5, socks5h.'),
    (p_service.interface !~ '^[A-Za-z0-9.:_-]{1,64}$',
     'interface', 'is neither an interface nor an address', 'Like eth1 or 192.0.2.7.'),
    (not exists (select from postrider.credentials c where c.name = p_service.credential)
     and p_service.credential is not null,
     'credential', format('there is no credential %s', quote_literal(p_service.credential)),
     'Insert it into postrider.credentials first.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select 'idempotency_header', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.key_header_defect(p_service.idempotency_header) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;

  select u.c, d.reason, d.hint into column_name, reason, hint
    from (values ('base_url', p_service.base_url), ('cdn_url', p_service.cdn_url)) as u(c, url)
   cross join lateral postrider_internal.url_defect(u.url) d
   where u.url is not null and d.reason is not null limit 1;
  if column_name is not null then
    return;
  end if;
  select u.c, 'holds a query or fragment', 'Put arguments of every call into services.query.' into column_name, reason,
         hint
    from (values ('base_url', p_service.base_url), ('cdn_url', p_service.cdn_url)) as u(c, url)
   where u.url ~ '[?#]' limit 1;
  if column_name is not null then
    return;
  end if;
  select 'headers', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.headers_defect(p_service.headers) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;
  reason := postrider_internal.pairs_defect(p_service.query);
  if reason is not null then
    column_name := 'query';
    hint := 'Give an object like {"key": "value", "tag": ["a", "b"]}.';
    return;
  end if;
  select 'envelope', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.envelope_defect(p_service.envelope) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;
  select d.c, format('%s %s', d.path, d.reason), d.hint into column_name, reason, hint
    from (select 'rules' as c, r.* from postrider_internal.rules_defect(p_service.rules) r
          union all select 'stub', t.* from postrider_internal.stub_defect(p_service.stub) t) d
   where d.reason is not null limit 1;
  if column_name is not null then
    return;
  end if;
  select 'tls', d.reason, d.hint into column_name, reason, hint from postrider_internal.tls_defect(p_service.tls) d
   where d.reason is not null;
end
$$;
comment on function postrider_internal.service_defect(postrider.services) is
  'the first column of a service that breaks a rule, the reason and a hint; nulls: valid';
