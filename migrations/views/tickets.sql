-- SPDX-License-Identifier: Apache-2.0
-- A barrier, so that no condition of a reader's own is asked about a ticket that is not for them.
create or replace view postrider_internal.tickets with (security_barrier) as
select j.id, postrider_internal.ticket(k.secret, j.id) as ticket
  from postrider.jobs j cross join postrider_internal.ticket_key k
 where j.created_by = current_user or (select postrider_internal.sees_all());
comment on view postrider_internal.tickets is
  'for each job that the reader may see what cancel and explain show of it to the functions that run as the owner';
