-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_is_absolute.sql
create or replace function postrider_internal.explain_servers(p_job postrider.jobs) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg(format(
           ' All servers of service %s (%s) are set aside; until one works again, its jobs use server %s, which reopens first, at %s.',
           p_job.service, f.environment, f.position, to_char(f.open_until, 'YYYY-MM-DD HH24:MI:SS TZ')), ''
             order by f.environment), '')
    from (select distinct on (t.environment) t.environment, t.position, t.open_until
            from postrider_internal.server_routes t
           where t.service = p_job.service and not postrider_internal.url_is_absolute(p_job.url)
             and not exists (
                   select from postrider_internal.server_routes o
                    where o.service = t.service and o.environment = t.environment and o.state = 'active')
           order by t.environment, t.open_until, t.position) f
$$;
comment on function postrider_internal.explain_servers(postrider.jobs) is
  'a sentence if all servers that a job may call are set aside; otherwise empty';
