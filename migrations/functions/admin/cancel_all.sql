-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Cancels job by job; a job that ends meanwhile does not count. Batches and chains come first, because otherwise they
-- would fail by their cancelled members. Each ends up to hundreds of jobs below it at once, the rest later, in any
-- order.
--
-- That order is not the lock order. So it first locks all these rows of ready by (track, seq), like all other
-- functions. While it waits there for a finish, it holds no row that the finish needs.
create or replace function postrider.cancel_all(queue text default null, lane text default null, tag text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint;
  v_parent bigint;
  v_count bigint := 0;
  v_tracks int[];                          -- null: any
  v_tagged bigint[];                       -- null: any, or too many
  v_looks_up boolean := false;             -- compares the columns of each job in jobs
begin
  -- Jobs of a large INSERT that are still in intake. feed moves them to ready.
  for v_id in
    select i.id from postrider_internal.intake i
     where (cancel_all.queue is null or i.queue = cancel_all.queue or cancel_all.queue = any (i.queues))
       and (cancel_all.lane is null or i.lane = cancel_all.lane or cancel_all.lane = any (i.lanes))
     order by i.id
       for update
  loop
    perform postrider_internal.feed(array[v_id]);
  end loop;
  -- Queue and lane are known from the track. Only jobs without a track are looked up in jobs (13 µs each), or all jobs
  -- if very many have the tag.
  --
  -- Each job is looked up by its id (`offset 0`). By the tag, with statistics from before the INSERT, each row would be
  -- compared with all of them: 58 s for 20,000 jobs.
  if num_nonnulls(cancel_all.queue, cancel_all.lane) > 0 then
    v_tracks := array(
      select t.id from postrider_internal.track_names t
       where (cancel_all.queue is null or t.queue = cancel_all.queue)
         and (cancel_all.lane is null or t.lane = cancel_all.lane));
  end if;
  if cancel_all.tag is not null then
    v_tagged := array(select j.id from postrider.jobs j where j.tag = cancel_all.tag limit 200001);
    if cardinality(v_tagged) > 200000 then
      v_tagged := null;
      v_looks_up := true;
    end if;
  end if;
  perform from postrider_internal.ready r
    where (v_tagged is null or r.job_id = any (v_tagged))
      and case when r.track > 0 and not v_looks_up then v_tracks is null or r.track = any (v_tracks)
               else exists (
                 select
                   from (select x.queue, x.lane, x.service, x.url, x.tag from postrider.jobs x
                         where x.id = r.job_id offset 0) j
                  where (cancel_all.queue is null or j.queue = cancel_all.queue)
                    and (cancel_all.lane is null or postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
                         = cancel_all.lane)
                    and (cancel_all.tag is null or j.tag = cancel_all.tag)) end
    order by r.track, r.seq
      for update;
  for v_id, v_parent in
    select w.job_id, w.parent_id
      from (select r.job_id, r.track, r.seq, r.parent_id from postrider_internal.ready r
            union all
            select s.job_id, s.track, null, s.parent_id from postrider_internal.scheduled s
            union all
            select t.job_id, -1, t.job_id, t.parent_id from postrider_internal.trees t
              where postrider_internal.is_open_tree(t.state)
            union all
            select m.job_id, 0, null, m.parent_id
              from postrider_internal.trees t join postrider_internal.members m on m.parent_id = t.job_id
             where postrider_internal.is_open_tree(t.state) and m.is_waiting) w
     where (v_tagged is null or w.job_id = any (v_tagged))
       and case when w.track > 0 and not v_looks_up then v_tracks is null or w.track = any (v_tracks)
                else exists (
                  select
                    from (select x.queue, x.lane, x.service, x.url, x.tag from postrider.jobs x
                          where x.id = w.job_id offset 0) j
                   where (cancel_all.queue is null or j.queue = cancel_all.queue)
                     and (cancel_all.lane is null or postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
                          = cancel_all.lane)
                     and (cancel_all.tag is null or j.tag = cancel_all.tag)) end
     order by w.track, w.seq nulls last, w.job_id
  loop
    -- A batch or chain above the job has ended, mostly in an earlier round, and ends this job too.
    continue when v_parent is not null and exists (
      with recursive above as (
        select t.parent_id, t.state from postrider_internal.trees t where t.job_id = v_parent
        union all
        select t.parent_id, t.state from above a join postrider_internal.trees t on t.job_id = a.parent_id)
      select from above a where not postrider_internal.is_open_tree(a.state));
    v_count := v_count + postrider_internal.cancel_any(v_id)::int;
  end loop;
  return v_count;
end
$$;
comment on function postrider.cancel_all(text, text, text) is
  'cancels all unfinished jobs of a queue, lane and tag (null: any); returns how many; a batch or chain counts once';
