-- SPDX-License-Identifier: Apache-2.0
-- Not in SQL, because the body holds a subquery. PostgreSQL would parse and plan it anew in each transaction, which
-- takes 0.15 of the leader's 0.7 ms. run_queue_duties calls it twice.
create or replace function postrider_internal.leads(p_worker int, p_epoch bigint) returns boolean
language plpgsql volatile
as $$
begin
  if current_setting('postrider.identified', true) is distinct from ('postrider_internal.workers'::regclass::oid)::text
     and not postrider_internal.is_identified() then
    return false;
  end if;
  return exists (
    select from postrider_internal.leases l
     where l.name = 'leader' and l.owner = p_worker and l.epoch = p_epoch and l.until > clock_timestamp());
end
$$;
comment on function postrider_internal.leads(int, bigint) is 'whether the lease of a leader is still valid';
