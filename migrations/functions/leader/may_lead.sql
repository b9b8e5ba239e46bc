-- SPDX-License-Identifier: Apache-2.0
-- If a lease ends further ahead than any lease can, the clock was set back since. It has no SET clause, so
-- PostgreSQL inlines it.
create or replace function postrider_internal.may_lead(p_lease postrider_internal.leases, p_worker int) returns boolean
language sql
as $$
  select p_lease.owner = p_worker
      or p_lease.until not between clock_timestamp() and clock_timestamp() + interval '11 s'
$$;
comment on function postrider_internal.may_lead(postrider_internal.leases, int) is
  'whether a worker may take or renew the leader''s lease: it holds the lease, or the lease has ended';
