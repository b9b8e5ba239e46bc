-- SPDX-License-Identifier: Apache-2.0
-- What: services, the settings that many jobs share.
-- Why:  a job names its service; base URL, headers, limits and ways of travel are looked up when the job is about to be
--       called (prepare), not when it is inserted. So a change reaches every worker with the next claim.
-- Cost: runs on an empty schema.

create table postrider.services (
  name text primary key,
  base_url text,
  cdn_url text,
  headers jsonb,
  query jsonb,
  apply_to_absolute boolean not null default true,
  timeout interval,
  connect_timeout interval,
  first_byte_timeout interval,
  max_response bigint,
  max_wait interval not null default '24 hours',
  envelope jsonb,
  html_is_502 boolean not null default false,
  credential text,
  cookies boolean not null default false,
  idempotency_header text,
  gzip_request boolean not null default false,
  cache_mode text not null default 'client',
  cache_namespace text not null default '',
  cache_ignore text[] not null default '{}',
  stale_if_error interval,
  allow_private_network boolean not null default false,
  proxy text,
  interface text,
  tls jsonb,
  created_at timestamptz not null default now()
);
comment on table postrider.services is
  'public: settings shared by the jobs that name the service; a change holds for every call that begins after it';
comment on column postrider.services.name is 'jobs.service refers to it; also the lane of its jobs unless they name one';
comment on column postrider.services.base_url is 'relative URLs of jobs are joined to it (RFC 3986), the base taken as a directory';
comment on column postrider.services.cdn_url is 'the base instead, for jobs with use_cdn';
comment on column postrider.services.headers is 'object: name to text or array of text; a header of the job with the same name wins';
comment on column postrider.services.query is 'object: name to scalar or array of scalars; a name in the job''s query or URL wins';
comment on column postrider.services.apply_to_absolute is 'whether headers and query are added to absolute URLs, too';
comment on column postrider.services.timeout is 'of one attempt, for jobs without one; null: 60 s';
comment on column postrider.services.connect_timeout is 'name lookup, connection and TLS together; null: 10 s';
comment on column postrider.services.first_byte_timeout is 'from the end of the request to the first byte of the answer; null: no limit of its own';
comment on column postrider.services.max_response is 'largest body in bytes, for jobs without a limit; null: 10 MiB';
comment on column postrider.services.max_wait is 'a job held back by 429 for this long fails';
comment on column postrider.services.envelope is
  'for APIs that answer 200 with a code inside: {"code": "$.code", "success": [200], "message": "$.msg", "result": "$.data.result"}';
comment on column postrider.services.html_is_502 is 'HTML where JSON was due counts as a status of 502 and is tried again';
comment on column postrider.services.credential is 'row of credentials, for jobs without one';
comment on column postrider.services.cookies is 'keep a cookie jar for the service';
comment on column postrider.services.idempotency_header is 'name of the header that carries a job''s key; null: the one of settings';
comment on column postrider.services.gzip_request is 'compress request bodies';
comment on column postrider.services.cache_mode is
  'client: the job''s cache_ttl decides alone; http: the server''s Cache-Control decides, cache_ttl is the upper bound';
comment on column postrider.services.cache_namespace is 'part of the cache key: services with the same one share their entries; empty: the service''s own';
comment on column postrider.services.cache_ignore is 'names of arguments that are not part of the cache key';
comment on column postrider.services.stale_if_error is 'a cached answer that is too old by at most this much serves while the server fails';
comment on column postrider.services.allow_private_network is 'private, loopback and link-local addresses may be called';
comment on column postrider.services.proxy is 'URL of a proxy: http, https, socks5 or socks5h';
comment on column postrider.services.interface is 'network interface or local address that carries the calls';
comment on column postrider.services.tls is
  'paths on the worker''s machine and pins: {"ca": file, "certificate": file, "key": file, "pins": ["sha256//…"]}';

create table postrider.cookies (
  service text not null references postrider.services on delete cascade on update cascade,
  credential text not null default '',
  line text not null,                      -- as libcurl writes them, fields separated by tabs
  domain text not null,
  path text not null,
  name text not null,
  set_at timestamptz not null default now(),
  primary key (service, credential, domain, path, name)
) with (fillfactor = 70);
comment on table postrider.cookies is 'private: the cookie jars, one for each service and credential';
