-- SPDX-License-Identifier: Apache-2.0
-- Keeps two ranges of ids ahead of the sequence. A new range is created and then attached, and only in a moment
-- when no transaction that has inserted into jobs is open. Why: an INSERT that is under way routes by the ranges it
-- saw at its start; if it reached a range attached since, it would fail with 23514. What outruns this goes to the
-- overflow partitions and is as good there.
--
-- While a whole range is ahead nobody ever waits for this (NOWAIT). Under transactions of 50 ms that follow each other closely no
-- such moment comes of itself (0 of 60 tries with ten clients): with less ahead it waits a tenth of a second for it, and those that
-- begin meanwhile wait behind it.
--
-- Each range is a quarter of the ids that are kept, at least a million: with a retention there are some seven ranges, without one
-- some 30 for a billion jobs.
create or replace function postrider.extend_partitions(p_worker int, p_epoch bigint) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_last bigint;
  v_top bigint;
  v_size bigint;
  v_from bigint;
  v_number int;
begin
  if not postrider.leads(p_worker, p_epoch) then
    return null;
  end if;
  select last_value into v_last from postrider.jobs_id_seq;
  select max(r.end_id), v_last - min(coalesce(r.first_id, 1)), count(*) into v_top, v_size, v_number
    from postrider.job_ranges() r where r.end_id is not null;
  v_size := greatest(1000000, v_size / 4 / 1000000 * 1000000);
  if v_top - v_last > 3 * v_size / 2 then
    return null;
  end if;
  begin
    if v_top - v_last > v_size then
      lock table postrider.jobs in share mode nowait;
    else
      lock table postrider.jobs in share mode;
    end if;
    select last_value into v_last from postrider.jobs_id_seq;
    v_from := greatest(v_top, v_last + 1);
    v_number := v_number + 1;
    while to_regclass(format('postrider.jobs_%s', v_number)) is not null loop
      v_number := v_number + 1;
    end loop;
    execute format('create table postrider.results_%s (like postrider.results including all)', v_number);
    execute format('alter table postrider.results attach partition postrider.results_%s for values from (%s) to (%s)',
      v_number, v_from, v_from + v_size);
    execute format('create table postrider.jobs_%s (like postrider.jobs including all excluding identity)', v_number);
    execute format('alter table postrider.jobs attach partition postrider.jobs_%s for values from (%s) to (%s)',
      v_number, v_from, v_from + v_size);
  exception when lock_not_available then
    return null;
  end;
  return format('jobs_%s from %s to %s', v_number, v_from, v_from + v_size - 1);
end
$$;
comment on function postrider.extend_partitions(int, bigint) is
  'private: leader: adds a range of ids to jobs and results when fewer than two are ahead; what it added, or null';
