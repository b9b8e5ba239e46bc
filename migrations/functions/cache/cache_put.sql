-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.cache_put(spec jsonb, body jsonb, app_version text default null) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.put_cache_entry(spec, 'application/json', 'utf-8', convert_to(body::text, 'UTF8'),
                                            app_version)
$$;
comment on function postrider.cache_put(jsonb, jsonb, text) is
  'stores JSON as the cached answer for the job in spec; returns false if such a job is not cached';

create or replace function postrider.cache_put(spec jsonb, body text, app_version text default null) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.put_cache_entry(spec, 'text/plain; charset=utf-8', 'utf-8', convert_to(body, 'UTF8'),
                                            app_version)
$$;
comment on function postrider.cache_put(jsonb, text, text) is
  'stores text as the cached answer for the job in spec; returns false if such a job is not cached';

create or replace function postrider.cache_put(spec jsonb, body bytea, app_version text default null) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.put_cache_entry(spec, 'application/octet-stream', null, body, app_version)
$$;
comment on function postrider.cache_put(jsonb, bytea, text) is
  'stores bytes as the cached answer for the job in spec; returns false if such a job is not cached';
