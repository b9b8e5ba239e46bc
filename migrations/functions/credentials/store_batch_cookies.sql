-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.store_batch_cookies(p_attempts postrider_internal.finished_attempt[],
                                                                  p_done bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
  v_lock_timeout text := '20ms';
begin
  -- In the order of locks.
  for v_call in
    select j.service, coalesce(x.credential, '') as credential, x.version, x.fence, x.cookies
      from unnest(p_attempts) x
      join postrider.jobs j on j.id = any (array[x.job_id])
     where x.cookies is not null and x.seq = any (p_done)
     order by hashtext(j.service), x.seq
  loop
    if not postrider_internal.store_cookies(
         v_call.service, v_call.credential, v_call.version, v_call.fence, v_call.cookies, v_lock_timeout) then
      -- A transaction that locks one jar may lock many, so the next jars get almost no wait.
      v_lock_timeout := '1ms';
    end if;
  end loop;
end
$$;
comment on function postrider_internal.store_batch_cookies(postrider_internal.finished_attempt[], bigint[]) is
  'stores changed cookies from the calls of a batch whose leases still held';
