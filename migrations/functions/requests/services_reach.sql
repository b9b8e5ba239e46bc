-- SPDX-License-Identifier: Apache-2.0
-- Runs at the end of the transaction, because servers are inserted after their service.
create or replace function postrider_internal.services_reach() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text := (
    select case when s.headers is not null then 'headers' else 'query' end
      from postrider.services s
     where s.name = new.name and not s.apply_to_absolute and num_nonnulls(s.headers, s.query) > 0
       and num_nonnulls(s.base_url, s.cdn_url) = 0 and not s.has_servers);
begin
  perform postrider_internal.raise_column_error('services', v_column,
                                                'needs an origin, but the service has none',
    'Set base_url, insert servers in this transaction, or let apply_to_absolute send it to every URL.');
  return null;
end
$$;
comment on function postrider_internal.services_reach() is
  'row trigger of services at commit: refuses headers and query that no call would carry';

-- PostgreSQL cannot replace a constraint trigger, so this file drops it and creates it again.
drop trigger if exists services_reach on postrider.services;
create constraint trigger services_reach
  after insert or update on postrider.services
  deferrable initially deferred
  for each row execute function postrider_internal.services_reach();
