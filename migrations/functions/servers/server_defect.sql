-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.server_defect(
  p_server postrider.servers, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_server.service is null, 'service', 'is missing', 'Name a row of postrider.services.'),
    (p_server.position is null or p_server.position not between 0 and 1000000,
     'position', 'is missing or out of range', 'Give 0 to 1000000; the lowest is used first.'),
    (p_server.environment is null or length(p_server.environment) not between 1 and 200,
     'environment', 'must have 1 to 200 characters',
     'Leave it out for release; workers name theirs with --environment.'),
    (p_server.state is null or p_server.state not in ('active', 'aside', 'probing')
       or p_server.state = 'probing' and p_server.probe_fence is null,
     'state', 'must be active or aside', 'Give active or aside, or leave it to Postrider.'),
    (p_server.open_until in ('infinity', '-infinity'),
     'open_until', 'is not a time',
     'Give the time of the next probe; to stop using the server, delete its row.'),
    (p_server.calls is null or p_server.calls not between 0 and 1000000000000, 'calls', 'must be a count',
     'Leave it to Postrider.'),
    (p_server.errors is null or p_server.errors not between 0 and 1000000000000, 'errors', 'must be a count',
     'Leave it to Postrider.'),
    (p_server.recent_calls not between 0 and 1000000000000, 'recent_calls', 'must be a count',
     'Leave it to Postrider.'),
    (p_server.recent_errors not between 0 and 1000000000000, 'recent_errors', 'must be a count',
     'Leave it to Postrider.'),
    (p_server.is_preferred is null, 'is_preferred', 'must not be null', 'Leave it to switch_server.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  if not exists (select from postrider.services s where s.name = p_server.service) then
    column_name := 'service';
    reason := format('there is no service %s', quote_literal(p_server.service));
    hint := 'Insert it into postrider.services first.';
    return;
  end if;
  select 'base_url', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.url_defect(p_server.base_url) d
   where d.reason is not null;
  if column_name is null and p_server.base_url ~ '^[A-Za-z]+://[^/?#]*@' then
    column_name := 'base_url';
    reason := 'holds a user or password';
    hint := 'Put them into services.headers as Authorization, or into a credential.';
  elsif column_name is null and p_server.base_url ~ '[?#]' then
    column_name := 'base_url';
    reason := 'holds a query or fragment';
    hint := 'Put arguments of every call into services.query.';
  end if;
end
$$;
comment on function postrider_internal.server_defect(postrider.servers) is
  'the first column of a server that breaks a rule, the reason and a hint; nulls: valid';
