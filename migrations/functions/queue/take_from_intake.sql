-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- The caller has locked the list.
create or replace function postrider_internal.take_from_intake(p_list bigint, p_ids bigint[]) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list postrider_internal.intake;
  v_ids bigint[];
  v_queues text[];
  v_lanes text[];
  v_moved bigint;
begin
  select * into v_list from postrider_internal.intake i where i.id = p_list;
  insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once, expires_at, has_callbacks)
  select u.id, u.id, coalesce(t.id, 0), j.max_attempts, j.delivery = 'at_most_once', j.expires_at,
         postrider_internal.has_callbacks(j)
    from unnest(v_list.ids, v_list.queues, v_list.lanes) u (id, queue, lane)
   cross join lateral (select x.* from postrider.jobs x where x.id = u.id offset 0) j
    left join lateral (
         select k.id from postrider_internal.tracks k
          where k.queue = coalesce(v_list.queue, u.queue) and k.lane = coalesce(v_list.lane, u.lane)
            and k.priority = v_list.priority limit 1) t on true
   where u.id = any (p_ids);
  get diagnostics v_moved = row_count;
  select array_agg(u.id order by u.n), case when v_list.queues is not null then array_agg(u.queue order by u.n) end,
         case when v_list.lanes is not null then array_agg(u.lane order by u.n) end
    into v_ids, v_queues, v_lanes
    from unnest(v_list.ids, v_list.queues, v_list.lanes) with ordinality u (id, queue, lane, n)
   where u.id <> all (p_ids);
  if v_ids is null then
    delete from postrider_internal.intake i where i.id = p_list;
  else
    update postrider_internal.intake i set ids = v_ids, queues = v_queues, lanes = v_lanes where i.id = p_list;
  end if;
  return v_moved;
end
$$;
comment on function postrider_internal.take_from_intake(bigint, bigint[]) is
  'moves the given jobs of an intake list into ready, keeps the others in the list and returns how many moved';
