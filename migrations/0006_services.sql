-- SPDX-License-Identifier: Apache-2.0
-- Services: settings that many jobs share. A job names its service, and prepare looks it up when the job is about to
-- be called. So a change reaches every worker with the next claim.

create table postrider.services (
  name text primary key,
  -- where its calls go
  base_url text,
  cdn_url text,
  allow_private_network boolean not null default false,
  proxy text,
  interface text,
  tls jsonb,
  -- headers, query and cookies of its calls
  headers jsonb,
  query jsonb,
  -- false: a job with an absolute URL of another origin does not carry a key in the service's headers there.
  apply_to_absolute boolean not null default false,
  credential text,
  cookies boolean not null default false,
  idempotency_header text,
  gzip_request boolean not null default false,
  -- limits of a call
  timeout interval,
  connect_timeout interval,
  first_byte_timeout interval,
  max_response bigint,
  max_wait interval not null default '24 hours',
  -- its answers
  envelope jsonb,
  html_is_502 boolean not null default false,
  -- the cache
  cache_mode text not null default 'client',
  cache_namespace text not null default '',
  cache_ignore text[] not null default '{}',
  stale_if_error interval,
  -- its servers
  min_calls int not null default 40,
  error_rate numeric not null default 0.10,
  cool_down interval not null default '30 s',
  -- A relative URL is good if its service has a base_url or servers. The check of an inserted row is one expression
  -- that cannot ask another table. Without this flag, a row for a service with servers alone would take 300 µs
  -- instead of 15.
  has_servers boolean not null default false,
  created_at timestamptz not null default now()
);
comment on table postrider.services is
  'settings shared by the jobs that name the service; a change holds for every call that begins after it';
comment on column postrider.services.name is
  'jobs.service refers to it; also the lane of its jobs unless they name one';
comment on column postrider.services.base_url is
  'relative URLs of jobs are joined to it (RFC 3986), the base taken as a directory';
comment on column postrider.services.cdn_url is 'the base instead, for jobs with use_cdn';
comment on column postrider.services.allow_private_network is
  'private, loopback and link-local addresses may be called';
comment on column postrider.services.proxy is 'URL of a proxy: http, https, socks5 or socks5h';
comment on column postrider.services.interface is 'network interface or local address that carries the calls';
comment on column postrider.services.tls is
  'paths on the worker''s machine and pins: {"ca": file, "certificate": file, "key": file, "pins": ["sha256//…"]}';
comment on column postrider.services.headers is
  'object: name to text or array of text; a header of the job with the same name wins';
comment on column postrider.services.query is
  'object: name to scalar or array of scalars; a name in the job''s query or URL wins';
comment on column postrider.services.apply_to_absolute is
  'whether headers, query and cookies also go to absolute URLs of other origins than the service''s own: base_url, '
  'cdn_url, servers';
comment on column postrider.services.credential is 'row of credentials, for jobs without one';
comment on column postrider.services.cookies is 'keep a cookie jar for the service';
comment on column postrider.services.idempotency_header is
  'name of the header that carries a job''s key; null: the one of settings';
comment on column postrider.services.gzip_request is 'compress request bodies';
comment on column postrider.services.timeout is 'of one attempt, for jobs without one; null: 60 s';
comment on column postrider.services.connect_timeout is 'name lookup, connection and TLS together; null: 10 s';
comment on column postrider.services.first_byte_timeout is
  'from the end of the request to the first byte of the answer; null: no limit of its own';
comment on column postrider.services.max_response is 'largest body in bytes, for jobs without a limit; null: 10 MiB';
comment on column postrider.services.max_wait is 'a job held back by 429 for this long fails';
comment on column postrider.services.envelope is
  'for APIs that answer 200 with a code inside: {"code": "$.code", "success": [200], "message": "$.msg", "result": '
  '"$.data.result"}';
comment on column postrider.services.html_is_502 is
  'HTML where JSON was due counts as a status of 502 and is tried again';
comment on column postrider.services.cache_mode is
  'client: the job''s cache_ttl decides alone; http: the server''s Cache-Control decides, cache_ttl is the upper bound';
comment on column postrider.services.cache_namespace is
  'part of the cache key: services with the same one share their entries; empty: the service''s own';
comment on column postrider.services.cache_ignore is 'names of arguments that are not part of the cache key';
comment on column postrider.services.stale_if_error is
  'a cached answer that is too old by at most this much serves while the server fails';
comment on column postrider.services.min_calls is 'a server is judged by at least so many calls';
comment on column postrider.services.error_rate is
  'a server is set aside when this part of its calls failed at network level or with 502, 503 or 504; more than 0, '
  'at most 1';
comment on column postrider.services.cool_down is 'how long a server is set aside before one call probes it';
comment on column postrider.services.has_servers is 'kept by Postrider: whether it has rows in servers';

create table postrider_internal.cookies (
  service text not null references postrider.services on delete cascade on update cascade,
  credential text not null default '',
  line text not null,                      -- as libcurl writes them, fields separated by tabs
  domain text not null,
  path text not null,
  name text not null,
  login bigint not null default 0,         -- refreshes.login when it came; 0: there was none
  set_at timestamptz not null default now(),
  primary key (service, credential, domain, path, name)
) with (fillfactor = 70);
comment on table postrider_internal.cookies is 'the cookie jars, one for each service and credential';
