-- SPDX-License-Identifier: Apache-2.0
-- No job has the id 0, so the ticket proves nothing else.
create or replace view postrider_internal.service_ticket as
select case when has_table_privilege('postrider.services', 'select')
         then postrider_internal.ticket(k.secret, 0) end as ticket
  from postrider_internal.ticket_key k;
comment on view postrider_internal.service_ticket is
  'a ticket that proves that the caller may read services, which preview passes to a function of the owner; or null';
