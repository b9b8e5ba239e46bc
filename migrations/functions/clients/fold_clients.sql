-- SPDX-License-Identifier: Apache-2.0
-- after: clients/limits_of.sql
-- planner: no-jit, generic-plans, no-seqscan
-- Only the leader writes client_usage and client_lanes, within fold, so INSERTs and finishes never wait for a counter.
--
-- An INSERT writes a row into client_deltas, an end writes its id into job_deltas.ended. Both commit together with the
-- rows that they count. Each call adds the deltas that its snapshot sees and the last one did not. It finds them by
-- transaction. So dead rows of earlier calls cost nothing while an old transaction is open.
--
-- A recount walks over all jobs by id, from the newest down, one step in each statement. It runs when the set of
-- counted clients changes, and an hour after the last one, against drift.
--
-- The walk and the deltas match exactly, because a step counts its range of ids in the same snapshot in which it takes
-- the deltas. A delta counts for the recount if its ids lie in the range walked before. An end that is not yet folded
-- is added to the range in which the step finds its result.
--
-- If the ids of a delta lie on both sides of recounted_from, its rows of jobs are counted one by one. They are found by
-- the xmin that they share with the delta.
--
-- A step adds the deltas of at most about 2,000 lanes, so that each statement ends in time, however many wait. While
-- more wait, steps walk nothing and `seen` stays. A walk must take all deltas that its snapshot sees. Added rows are
-- deleted, so no step finds them again.
create or replace function postrider_internal.fold_clients(p_ended bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state postrider_internal.client_counting;
  v_scope text;
  v_has_lanes boolean;
  v_least bigint;
  v_next bigint;
  v_is_partial boolean;                    -- more deltas wait than one step adds
  v_places tid[];                          -- the deltas that a partial step adds
  v_from xid8;                             -- the last step saw no transaction from this one on,
  v_open xid8[];                           --   and none of these, which were open then
  v_began constant timestamptz := clock_timestamp();
  v_empty_roles text[];
  v_empty_lanes text[];
begin
  select c.* into v_state from postrider_internal.client_counting c for update;
  -- A restored database has another oid, and other transaction numbers.
  select string_agg(format('%L%s', l.role, case when l.max_lanes is not null then '+' end), ',' order by l.role)
         || ' ' || (select d.oid from pg_database d where d.datname = current_database()),
         bool_or(l.max_lanes is not null)
    into v_scope, v_has_lanes
    from postrider.client_limits l;
  if v_scope is null then
    delete from postrider_internal.client_usage;
    delete from postrider_internal.client_lanes;
    delete from postrider_internal.client_deltas;
    delete from postrider_internal.client_new_lanes;
    update postrider_internal.client_counting set scope = null, seen = null, recounted_from = null, recounted_at = null;
    return;
  end if;
  if v_state.scope is distinct from v_scope
     or v_state.recounted_from is null
       and (v_state.recounted_at > clock_timestamp() - interval '1 hour') is not true then
    if v_state.scope is distinct from v_scope then
      v_state.recounted_at := null;
    end if;
    v_state.scope := v_scope;
    v_state.seen := null;
    v_state.pass := v_state.pass + 1;
    v_state.recounted_from := (select s.last_value + 1 from postrider.jobs_id_seq s);
    update postrider_internal.client_usage u set recounted = 0, recounted_lanes = 0;
  end if;
  if v_state.recounted_from is not null then
    v_least := (select min(j.id) from postrider.jobs j);
  end if;

  loop
    v_from := coalesce(pg_snapshot_xmax(v_state.seen), '0');
    v_open := array(select x from pg_snapshot_xip(v_state.seen) x);
    v_state.version := v_state.version + 1;
    select array_agg(w.place) filter (where w.before < 2000), coalesce(sum(w.lanes), 0) > 2000
      into v_places, v_is_partial
      from (select c.place, c.lanes,
            coalesce(sum(c.lanes) over (rows between unbounded preceding and 1 preceding), 0) as before
              from ((select x.ctid as place, cardinality(x.lanes) as lanes from postrider_internal.client_deltas x
                      where x.xact >= v_from order by x.xact, x.role, x.so_far limit 2001)
                    union all
                    (select x.ctid, cardinality(x.lanes) from postrider_internal.client_deltas x
                      where x.xact = any (v_open) limit 2001)) c) w;
    v_next := case when not v_is_partial then v_state.recounted_from - 10000 end;
    with folded as (
      delete from postrider_internal.client_deltas d
       where d.ctid = any (case when v_is_partial then v_places else array(
               select x.ctid from postrider_internal.client_deltas x where x.xact >= v_from
               union all
               select x.ctid from postrider_internal.client_deltas x where x.xact = any (v_open)) end)
      returning d.*, d.xmin as inserted_by),
    forgotten as (
      delete from postrider_internal.client_new_lanes n
       where n.ctid = any (array(
               select x.ctid
                 from folded f cross join lateral unnest(f.lanes) c (lane)
                cross join lateral (
                      select x.ctid from postrider_internal.client_new_lanes x
                       where x.xact = f.xact and x.role = f.role and x.lane = c.lane collate "C" offset 0) x))),
    walked as (
      select j.id
        from postrider.jobs j
       where j.id >= v_next and j.id < v_state.recounted_from
         and not exists (select from postrider_internal.results r
                         where r.job_id = j.id and r.job_id >= v_next and r.job_id < v_state.recounted_from)
         and not exists (select from postrider_internal.outcomes o where o.job_id = j.id)),
    changed as (
      select f.role, c.lane collate "C" as lane, sum(c.jobs) as jobs,
             sum(case when f.first_id >= v_state.recounted_from then c.jobs else 0 end) as recounted
        from folded f cross join lateral unnest(f.lanes, f.lane_jobs) as c(lane, jobs)
       group by 1, 2
      union all
      select j.created_by, case when v_has_lanes
        then postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) end, sum(i.jobs), sum(i.recounted)
        from (select abs(e.id) as id, -sign(e.id) as jobs, case when abs(e.id) >= v_state.recounted_from
              then -sign(e.id) else 0 end as recounted
                from unnest(p_ended) e (id)
              union all
              select w.id, 0, 1 from walked w
              union all
              select abs(e.id), 0, sign(e.id)
                from postrider_internal.job_deltas t cross join lateral unnest(t.ended) e (id)
               where v_next is not null and t.ended is not null and abs(e.id) >= v_next
                 and abs(e.id) < v_state.recounted_from
              union all
              select g.id, 0, 1
                from folded f
               cross join lateral (
                     select x.id from postrider.jobs x
                      where x.id >= v_state.recounted_from and x.id <= f.last_id and x.xmin = f.inserted_by
                        and x.created_by = f.role offset 0) g
               where f.first_id < v_state.recounted_from and f.last_id >= v_state.recounted_from) i
       cross join lateral (
             select x.created_by, x.lane, x.service, x.url, x.kind from postrider.jobs x where x.id = i.id offset 0) j
       where j.kind = 'request'
       group by 1, 2),
    -- Otherwise the function would run for each row of changed.
    limited as materialized (
      select r.role, l.max_lanes
        from (select distinct x.role from changed x) r cross join lateral postrider_internal.limits_of(r.role) l
       where l.role is not null),
    scoped as materialized (
      select c.role, case when l.max_lanes is not null then c.lane end as lane, sum(c.jobs)::bigint as jobs,
             sum(c.recounted)::bigint as recounted
        from changed c join limited l on l.role = c.role
       group by 1, 2),
    lanes_before as materialized (
      select b.role, b.lane, b.unfinished, case when b.pass = v_state.pass then b.recounted else 0 end as recounted
        from scoped s cross join lateral (
             select x.* from postrider_internal.client_lanes x where x.role = s.role and x.lane = s.lane offset 0) b),
    lanes_after as (
      insert into postrider_internal.client_lanes as l (role, lane, unfinished, recounted, pass)
      select s.role, s.lane, s.jobs, s.recounted, v_state.pass from scoped s where s.lane is not null
          on conflict (role, lane) do update
         set unfinished = l.unfinished + excluded.unfinished,
             recounted = case when l.pass = v_state.pass then l.recounted
               else 0 end + excluded.recounted, pass = v_state.pass
      returning l.role, l.lane, l.unfinished, l.recounted),
    used as (
      select s.role, sum(s.jobs)::bigint as jobs, sum(s.recounted)::bigint as recounted,
             coalesce(max(n.lanes), 0) as lanes,
             coalesce(max(n.recounted), 0) as recounted_lanes
        from scoped s
        left join (
             select a.role, sum((a.unfinished > 0)::int - (coalesce(b.unfinished, 0) > 0)::int) as lanes,
                    sum((a.recounted > 0)::int - (coalesce(b.recounted, 0) > 0)::int) as recounted
               from lanes_after a left join lanes_before b using (role, lane)
              group by a.role) n on n.role = s.role
       group by s.role),
    usage_before as (
      delete from postrider_internal.client_usage u where u.role in (select d.role from used d) returning u.*),
    usage_after as (
      insert into postrider_internal.client_usage (role, version, unfinished, lanes, recounted, recounted_lanes)
      select d.role, v_state.version, coalesce(b.unfinished, 0) + d.jobs, coalesce(b.lanes, 0) + d.lanes,
             case when v_state.recounted_from is not null then coalesce(b.recounted, 0) + d.recounted end,
             case when v_state.recounted_from is not null then coalesce(b.recounted_lanes, 0) + d.recounted_lanes end
        from used d left join usage_before b on b.role = d.role)
    select case when v_is_partial then v_state.seen else pg_current_snapshot() end, array_agg(a.role), array_agg(a.lane)
      into v_state.seen, v_empty_roles, v_empty_lanes
      from lanes_after a where a.unfinished = 0 and (v_state.recounted_from is null or a.recounted = 0);
    if v_empty_roles is not null then
      delete from postrider_internal.client_lanes l
       using unnest(v_empty_roles, v_empty_lanes) e (role, lane)
       where l.role = e.role and l.lane = e.lane collate "C" and l.unfinished = 0;
    end if;
    p_ended := '{}';
    if v_is_partial then
      -- The other duties of the session, including heartbeats, wait meanwhile.
      exit when clock_timestamp() > v_began + interval '400 ms';
      continue;
    end if;
    exit when v_next is null;
    v_state.recounted_from := v_next;
    if v_next <= coalesce(v_least, v_next) then
      delete from postrider_internal.client_usage u where (postrider_internal.limits_of(u.role)).role is null;
      update postrider_internal.client_usage u
         set unfinished = u.recounted, lanes = u.recounted_lanes, recounted = null, recounted_lanes = null;
      update postrider_internal.client_lanes l
         set unfinished = case when l.pass = v_state.pass then l.recounted else 0 end
       where l.unfinished <> case when l.pass = v_state.pass then l.recounted else 0 end;
      delete from postrider_internal.client_lanes l
        where l.unfinished = 0 or not exists (select from postrider_internal.client_usage u where u.role = l.role);
      v_state.recounted_from := null;
      v_state.recounted_at := clock_timestamp();
      exit;
    end if;
    -- Heartbeats share this session.
    exit when clock_timestamp() > v_began + interval '40 ms';
  end loop;
  update postrider_internal.client_counting c
     set scope = v_state.scope, seen = v_state.seen, pass = v_state.pass, recounted_from = v_state.recounted_from,
         recounted_at = v_state.recounted_at, version = v_state.version;
end
$$;
comment on function postrider_internal.fold_clients(bigint[]) is
  'leader, in fold: adds changes by INSERTs and these ended requests to client_usage, and continues a recount';
