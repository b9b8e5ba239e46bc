-- SPDX-License-Identifier: Apache-2.0
-- A NOTIFY wakes all sessions of the database that listen, whichever queue it is for. So of many idle workers of the
-- same queues only some listen. The others look for jobs themselves, each one less often if there are more of them.
--
-- p_listens: whether the worker listens. Then only listeners with a lower number count. So all workers agree on the
-- listeners that go on. null: the worker needs no answer.
--
-- Both counts end at the number from which on the worker decides the same.
create or replace function postrider_internal.count_peers(
  p_worker int, p_listens boolean, out listeners int, out peers int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues text[];
begin
  if p_listens is null then
    return;
  end if;
  select w.queues into v_queues from postrider_internal.workers w where w.id = p_worker;
  select count(*) into listeners
    from (select from postrider_internal.idle_workers i
            join postrider_internal.workers w on w.id = any (array[i.worker])
           where w.ended_at is null and w.in_flight < w.concurrency and w.queues is not distinct from v_queues
             and (not p_listens or i.worker < p_worker)
           limit 16) x;
  select count(*) into peers
    from (select from postrider_internal.workers w
           where w.ended_at is null and w.queues is not distinct from v_queues
           limit 480) x;
end
$$;
comment on function postrider_internal.count_peers(int, boolean) is
  'workers of the same queues: those that listen and have free slots (at most 16), and all (at most 480); null: not asked';
