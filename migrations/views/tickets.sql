-- SPDX-License-Identifier: Apache-2.0
-- A security barrier, so that no condition of a reader is evaluated on the ticket of a job that the reader may not see.
create or replace view postrider_internal.tickets with (security_barrier) as
select j.id, postrider_internal.ticket(k.secret, j.id) as ticket,
       case when has_table_privilege('postrider.services', 'select')
         then postrider_internal.ticket(k.secret, -j.id) end as service_ticket
  from postrider.jobs j cross join postrider_internal.ticket_key k
 where j.created_by = current_user or (select postrider_internal.sees_all());
comment on view postrider_internal.tickets is
  'the ticket of each job that the reader may see, which cancel and explain pass to functions of the owner; '
  'and one that proves that the reader may read services';
