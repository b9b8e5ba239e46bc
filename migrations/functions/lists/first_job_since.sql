-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan
-- A binary search, because no index holds created_at. Ids are nearly in the order of the times: created_at is the start
-- of a transaction, and a long transaction may insert jobs with higher ids than a shorter one that began later.
create or replace function postrider_internal.first_job_since(p_time timestamptz) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_low bigint := (select j.id from postrider.jobs j order by j.id limit 1);
  v_high bigint := (select j.id + 1 from postrider.jobs j order by j.id desc limit 1);
  v_middle bigint;
begin
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    if (select j.created_at from postrider.jobs j where j.id >= v_middle order by j.id limit 1) < p_time then
      v_low := v_middle + 1;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_low;
end
$$;
comment on function postrider_internal.first_job_since(timestamptz) is
  'about the first id of the jobs inserted at a time or later; null without jobs';
