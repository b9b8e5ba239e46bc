-- SPDX-License-Identifier: Apache-2.0
-- A worker sees a job after the commit, so a wait in the transaction of the INSERT would only end at its timeout.
--
-- A subtransaction has its own id, above the id of its transaction. It counts as in progress until the whole
-- transaction ends. xmin has 32 bits. created_at is the start of the inserting transaction. So rows of old
-- transactions are left out, whose xmin may have been reused.
create or replace function postrider_internal.check_wait(p_id bigint, p_ticket bytea) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own bigint := pg_current_xact_id_if_assigned()::text::bigint;
  v_above bigint;                          -- how far xmin is above the id of this transaction
begin
  perform postrider_internal.check_ticket(p_id, p_ticket);
  select (j.xmin::text::bigint - v_own) & 4294967295 into v_above
    from postrider.jobs j where j.id = p_id and j.created_at = now() and v_own is not null;
  if v_above < 2147483648 and pg_xact_status((v_own + v_above)::text::xid8) = 'in progress' then
    raise exception using errcode = 'PR005',
      message = format('job %s was inserted by this transaction, so no worker sees it yet', p_id),
      hint = 'Commit, then wait.';
  end if;
end
$$;
comment on function postrider_internal.check_wait(bigint, bytea) is
  'raises an error if the ticket does not fit, or if this transaction has inserted the job';
