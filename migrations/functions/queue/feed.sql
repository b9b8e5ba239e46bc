-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Adds no tracks. A transaction that cancels a job of a list also calls this, and would lock a new track until it ends.
-- Jobs whose track is missing go to track 0, like jobs of a single INSERT.
create or replace function postrider_internal.feed(p_lists bigint[]) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fed bigint;
  v_list bigint;
begin
  with gone as (
    delete from postrider_internal.intake i where i.id = any (p_lists) and i.max_attempts is not null returning i.*)
  insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once)
  select job_id, job_id, g.track, g.max_attempts, g.at_most_once
    from (select coalesce(t.id, 0) as track, i.max_attempts, i.at_most_once,
                 coalesce(i.ids, array(select generate_series(i.first_id, i.last_id))) as ids
            from gone i
            left join postrider_internal.tracks t on t.queue = i.queue and t.lane = i.lane and t.priority = i.priority
           order by i.first_id) g
   cross join lateral unnest(g.ids) as job_id;
  get diagnostics v_fed = row_count;
  for v_list in
    select i.id from postrider_internal.intake i where i.id = any (p_lists) and i.max_attempts is null
      order by i.first_id, i.id
  loop
    v_fed := v_fed + (select f.fed from postrider_internal.feed_crowd_list(v_list) f);
  end loop;
  return v_fed;
end
$$;
comment on function postrider_internal.feed(bigint[]) is
  'moves the jobs of the given intake lists into ready and returns how many';
