-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- A member that joins at the same moment may take the same position. This function then waits for its commit and takes
-- the next position. Before it tries again, it waits for an advisory lock. Without that lock, each of 16 sessions that
-- keep adding to one batch now and then loses 20 rounds.
--
-- A transaction that joins several batches or chains must do so in one order, as with all shared rows.
create or replace function postrider_internal.assign_positions(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_place record;
begin
  loop
    begin
      with placed as materialized (
        select j.id, j.parent_id, j.position, j.name
          from unnest(p_jobs) as u(id)
         cross join lateral (
               select x.id, x.parent_id, x.position, x.name from postrider.jobs x where x.id = u.id offset 0) j
         where j.parent_id is not null),
      parents as (
        select d.parent_id,
               greatest(max(d.position), (
                 select m.position from postrider_internal.members m where m.parent_id = d.parent_id
                   order by m.position desc limit 1), 0) as base,
               array_agg(d.id order by d.position is not null, d.id) as ids,
               array_agg(d.position order by d.position is not null, d.id) as positions,
               array_agg(d.name order by d.position is not null, d.id) as names
          from placed d
         group by d.parent_id)
      insert into postrider_internal.members (job_id, parent_id, position, name)
      select u.id, p.parent_id, coalesce(u.position, p.base + u.n), u.name
        from parents p
       cross join lateral unnest(p.ids, p.positions, p.names) with ordinality as u(id, position, name, n)
       order by p.parent_id, u.id;
      return;
    exception when unique_violation then
      get stacked diagnostics v_constraint = constraint_name;
    end;
    -- The other member may belong to another client. This transaction could not see that client's batch or chain before
    -- the commit. So the error must not mention its members.
    perform postrider_internal.raise_foreign_parent(j.parent_id, j.created_by, j.id)
       from (select j.parent_id, j.created_by, min(j.id) as id
               from postrider.jobs j where j.id = any (p_jobs) and j.parent_id is not null group by 1, 2) j;
    select j.id, j.parent_id, j.name, t.kind into v_place
      from postrider.jobs j join postrider_internal.trees t on t.job_id = j.parent_id
     where j.id = any (p_jobs) and j.name is not null and v_constraint = 'members_name'
       and (exists (select from postrider_internal.members m where m.parent_id = j.parent_id and m.name = j.name)
            or exists (select from postrider.jobs k
                        where k.id = any (p_jobs) and k.parent_id = j.parent_id and k.name = j.name and k.id <> j.id))
     limit 1;
    if found then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'name',
        message = format('jobs.name: %s %s has a member named %s already', postrider_internal.kind_name(v_place.kind),
          v_place.parent_id, quote_ident(v_place.name)), detail = v_place.id::text,
        hint = 'Names are unique among siblings; templates refer to them.';
    end if;
    select j.id, j.parent_id, j.position, t.kind into v_place
      from postrider.jobs j join postrider_internal.trees t on t.job_id = j.parent_id
     where j.id = any (p_jobs) and j.position is not null
       and (exists (select from postrider_internal.members m
                    where m.parent_id = j.parent_id and m.position = j.position)
            or exists (select from postrider.jobs k
                        where k.id = any (p_jobs) and k.parent_id = j.parent_id and k.position = j.position
                          and k.id <> j.id))
     limit 1;
    if found then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'position',
        message = format('jobs.position: %s %s has a member at position %s already',
          postrider_internal.kind_name(v_place.kind), v_place.parent_id, v_place.position), detail = v_place.id::text,
        hint = 'Leave it out for the next free one.';
    end if;
    -- The snapshot of such a transaction is older than the commit of the other member. So it can never see the next
    -- free position.
    if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
      raise serialization_failure using
        message = format('jobs: another transaction has just added members to the batch or chain of job %s', p_jobs[1]),
        hint = 'Run the transaction again.';
    end if;
    perform pg_advisory_xact_lock(1886351476, hashint8(min(j.parent_id)))
       from postrider.jobs j
      where j.id = any (p_jobs) and j.parent_id is not null;
  end loop;
end
$$;
comment on function postrider_internal.assign_positions(bigint[]) is
  'adds these jobs to the members of their batch or chain, at their position or the next free one';
