-- SPDX-License-Identifier: Apache-2.0
-- In a restored database no worker leads before one has enlisted there. If a lease ends further ahead than any lease
-- can, the clock was set back since.
create or replace function postrider_internal.lead(p_worker int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_epoch bigint;
begin
  -- Most workers are not the leader, so this check comes first. A restored database has the lease of an earlier moment.
  if not exists (
    select from postrider_internal.leases l
     where l.name = 'leader'
       and (l.owner = p_worker or l.until not between clock_timestamp() and clock_timestamp() + interval '11 s')) then
    return null;
  end if;
  -- The lock keeps out a renewal while this worker leaves. A renewal that waited for that commit would take the lease
  -- once more, and no other worker would lead for 10 s.
  if not postrider_internal.is_identified() or not pg_try_advisory_xact_lock_shared(1886351474, p_worker) then
    return null;
  end if;
  update postrider_internal.leases l
     set owner = p_worker,
         epoch = case when l.owner = p_worker then l.epoch else l.epoch + 1 end,
         until = clock_timestamp() + interval '10 s'
   where l.name = 'leader'
     and (l.owner = p_worker or l.until not between clock_timestamp() and clock_timestamp() + interval '11 s')
     and exists (select from postrider_internal.workers w where w.id = p_worker and w.ended_at is null)
  returning l.epoch into v_epoch;
  return v_epoch;
end
$$;
comment on function postrider_internal.lead(int) is
  'takes or renews the leader''s lease for 10 s and returns its epoch; null while another worker leads';
