-- SPDX-License-Identifier: Apache-2.0
-- Prepares a large overflow partition for a new range, one step in each transaction. ATTACH reads all of the default
-- partition under a lock that blocks INSERTs and claims. For three million jobs and their results, 2.7 GB in memory,
-- this took 2.9 s. A validated CHECK that excludes the range avoids the read.
--
-- The first step adds the CHECK without reading the rows. The next step validates it without blocking other sessions.
-- Then extend_partitions attaches the range and drops the CHECK.
--
-- Until then the CHECK refuses ids from the bound on, where the new range will begin. So the bound is a hundred million
-- ids ahead. Clients insert fewer jobs than that while no worker continues this work. When the range before is used up,
-- the ids jump to the bound.
--
-- extend_partitions reads up to 64 MiB in less than 100 ms, the time that it may wait for its locks anyway.
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
  -- Only a vacuum waits behind this lock, and it gives up after a second.
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
  'leader: one step to prove that a large overflow has no rows of the next range; whether it did a step';
