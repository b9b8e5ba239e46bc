-- SPDX-License-Identifier: Apache-2.0
-- Each worker knows its environment; here it is unknown, so release comes first. As in pick_servers, a call to the CDN
-- has no server.
create or replace function postrider_internal.likely_server(p_job postrider.jobs,
                                                            p_service postrider.services) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select t.base_url from postrider_internal.server_routes t
   where t.service = p_service.name and not (p_job.use_cdn and p_service.cdn_url is not null)
   order by t.environment <> 'release', t.state <> 'active', not t.is_preferred, t.position limit 1
$$;
comment on function postrider_internal.likely_server(postrider.jobs, postrider.services) is
  'the base URL of the server that a job would call now; null: its service has none, or the job calls the CDN';
