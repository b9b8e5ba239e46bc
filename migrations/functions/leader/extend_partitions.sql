-- SPDX-License-Identifier: Apache-2.0
-- Adds a range when at most one and a half ranges of ids are free. It attaches the range only while no transaction that
-- has inserted into jobs is open. An INSERT in progress routes rows by the ranges that it saw at its start. If it
-- reached a range attached since, it would fail with 23514. Rows beyond all ranges go to the overflow partitions and
-- work there too.
--
-- While a whole range is ahead, no session ever waits for this (NOWAIT). Under transactions of 50 ms in close sequence
-- such a moment never came (0 of 60 attempts with ten clients). So with less than a range ahead it waits 100 ms, and
-- new transactions wait behind it.
--
-- ATTACH reads the overflow while all sessions wait. So a large overflow must first be proven free of rows of the range
-- (bound_overflow), and the range then begins far ahead of the ids. The ids jump to it in a later transaction. In the
-- same transaction, an error would roll back the range but not the jump.
create or replace function postrider_internal.extend_partitions(p_worker int, p_epoch bigint) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_ids record;
  v_bound record;
  v_from bigint;
  v_number int;
begin
  if not postrider_internal.leads(p_worker, p_epoch) then
    return null;
  end if;
  select a.* into v_ids from postrider_internal.ids_ahead() a;
  select b.* into v_bound from postrider_internal.overflow_bound() b;
  if v_ids.next_id > coalesce(v_ids.reach, 0) and v_ids.last_id + 100000 >= coalesce(v_ids.reach, 0) then
    lock table postrider.jobs in share row exclusive mode;
    -- Now only rows of ready take ids, and no other leader does this work.
    select a.* into v_ids from postrider_internal.ids_ahead() a;
    if v_ids.next_id > coalesce(v_ids.reach, 0) then
      perform setval('postrider.jobs_id_seq', v_ids.next_id - 1);
    end if;
    return null;
  elsif v_bound.bound - v_ids.last_id < 50000000 then
    -- The ids have nearly reached the bound that the CHECK refuses.
    alter table postrider_internal.results_overflow drop constraint results_overflow_ends;
    alter table postrider_internal.jobs_overflow drop constraint jobs_overflow_ends;
    return null;
  elsif v_ids.ahead > 3 * v_ids.size / 2 then
    return null;
  elsif not coalesce(v_bound.is_proven, not postrider_internal.overflow_is_large()) then
    return null;
  end if;
  if v_ids.ahead > v_ids.size then
    lock table postrider.jobs in share mode nowait;
  else
    lock table postrider.jobs in share mode;
  end if;
  select a.* into v_ids from postrider_internal.ids_ahead() a;
  v_from := coalesce(v_bound.bound, greatest(v_ids.top, v_ids.last_id + 1));
  select count(*) into v_number from postrider_internal.job_ranges();
  while to_regclass(format('postrider_internal.jobs_%s', v_number)) is not null loop
    v_number := v_number + 1;
  end loop;
  execute format('create table postrider_internal.results_%s (like postrider_internal.results including all)',
                 v_number);
  execute format('alter table postrider_internal.results attach partition postrider_internal.results_%s for values from (%s) to (%s)',
    v_number, v_from, v_from + v_ids.size);
  execute format('create table postrider_internal.jobs_%s (like postrider.jobs including all excluding identity)',
                 v_number);
  execute format('alter table postrider.jobs attach partition postrider_internal.jobs_%s for values from (%s) to (%s)',
    v_number, v_from, v_from + v_ids.size);
  if v_bound.is_proven then
    alter table postrider_internal.results_overflow drop constraint results_overflow_ends;
    alter table postrider_internal.jobs_overflow drop constraint jobs_overflow_ends;
  end if;
  return format('jobs_%s from %s to %s', v_number, v_from, v_from + v_ids.size - 1);
exception when lock_not_available then
  return null;
end
$$;
comment on function postrider_internal.extend_partitions(int, bigint) is
  'leader: adds a range of ids to jobs and results when at most 1.5 ranges are free; returns a description or null';
