-- SPDX-License-Identifier: Apache-2.0
-- What: a service knows whether it has servers.
-- Why:  a relative URL is good if its service has a base_url or servers. The look at each inserted row is one expression that
--       cannot ask another table; without this flag each row for a service with servers alone would take the long way
--       (300 us instead of 15).
-- Cost: adds a column with a constant default, no rewrite; updates the services that have servers.

alter table postrider.services add column has_servers boolean not null default false;
comment on column postrider.services.has_servers is 'kept by Postrider: whether it has rows in servers';
update postrider.services s set has_servers = true
 where exists (select from postrider.servers v where v.service = s.name);
