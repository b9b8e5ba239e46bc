-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.leads(p_worker int, p_epoch bigint) returns boolean
language sql volatile
as $$
  select exists (
    select from postrider.leases l
     where l.name = 'leader' and l.owner = p_worker and l.epoch = p_epoch and l.until > clock_timestamp())
$$;
comment on function postrider.leads(int, bigint) is 'private: whether the lease that a leader holds is still good';
