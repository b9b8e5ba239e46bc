-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
create or replace function postrider_internal.feed_crowd_list(p_list bigint, out fed bigint, out tracks int[],
                                                              out seqs bigint[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from postrider_internal.intake i where i.id = p_list returning i.*),
  waiting as (
    select u.id, coalesce(g.queue, u.queue) as queue, coalesce(g.lane, u.lane) as lane, g.priority
      from gone g
     cross join lateral unnest(coalesce(g.ids, array(select generate_series(g.first_id, g.last_id))), g.queues,
                               g.lanes) u (id, queue, lane)),
  placed as (
    insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once, expires_at, has_callbacks)
    select w.id, w.id, coalesce(t.id, 0), j.max_attempts, j.delivery = 'at_most_once', j.expires_at,
           postrider_internal.has_callbacks(j)
      from waiting w
     cross join lateral (select x.* from postrider.jobs x where x.id = w.id offset 0) j
      left join lateral (
           select k.id from postrider_internal.tracks k
            where k.queue = w.queue and k.lane = w.lane and k.priority = w.priority limit 1) t on true
    returning track, seq)
  select coalesce(sum(p.jobs), 0), array_agg(p.track), array_agg(p.last) into fed, tracks, seqs
    from (select x.track, count(*) as jobs, max(x.seq) as last from placed x group by x.track) p;
end
$$;
comment on function postrider_internal.feed_crowd_list(bigint) is
  'moves the jobs of an intake list into ready; returns how many, their tracks, and the last row of each track';
