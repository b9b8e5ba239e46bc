-- SPDX-License-Identifier: Apache-2.0
-- Prepares a large overflow for a new range, a step in each transaction. ATTACH reads all of the default partition,
-- under a lock that no INSERT and no claim passes (three million jobs and their results, 2.7 GB in memory: 2.9 s),
-- unless a CHECK tells that it holds nothing of the range. The CHECK is added without a look at the rows; the look, the
-- next step, holds up nobody; then extend_partitions attaches the range and drops it.
--
-- Until then it would refuse an id behind the bound. So the bound, where the range will begin, is a hundred million ids
-- ahead, more than clients insert while no worker runs that goes on from here. Ids jump there when the range before is
-- used up.
--
-- Up to 64 MiB extend_partitions has read in less than the tenth of a second that it may wait for its locks anyway.
create or replace function postrider_internal.bound_overflow() returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_ids record;
  v_bound record;
  v_end bigint;
begin
  select b.* into v_bound from postrider_internal.overflow_bound() b;
  if v_bound.bound is null then
    select a.* into v_ids from postrider_internal.ids_ahead() a;
    if v_ids.ahead > 3 * v_ids.size / 2 or not postrider_internal.overflow_is_large() then
      return false;
    end if;
    v_end := greatest(v_ids.top, v_ids.last_id + 100000000);
    execute format('alter table postrider_internal.results_overflow add constraint results_overflow_ends check (job_id < %s) not valid', v_end);
    execute format('alter table postrider_internal.jobs_overflow add constraint jobs_overflow_ends check (id < %s) not valid', v_end);
    return true;
  end if;
  if v_bound.is_proven then
    return false;
  end if;
  -- Nobody waits behind this one but a vacuum, which gives way after a second.
  perform set_config('lock_timeout', '5s', true);
  if exists (select from pg_constraint c
             where c.conname = 'results_overflow_ends' and c.conrelid = 'postrider_internal.results_overflow'::regclass
                and not c.convalidated) then
    alter table postrider_internal.results_overflow validate constraint results_overflow_ends;
  else
    alter table postrider_internal.jobs_overflow validate constraint jobs_overflow_ends;
  end if;
  return true;
end
$$;
comment on function postrider_internal.bound_overflow() is
  'leader: one step towards a proof that the overflow partitions hold nothing of the next range of ids, if that is near and they are large; whether it did something';
