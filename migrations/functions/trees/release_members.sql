-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Releases the next members in line, at most p_limit. A chain releases one at a time and never passes a locked member.
-- A single member has its own branch, which costs a third. It runs in the transaction that finishes the step before.
create or replace function postrider_internal.release_members(
  p_tree postrider_internal.trees, p_limit int, out released int, out finished int, out failed int, out succeeded int,
  out failed_job bigint, out reached int, out is_blocked boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
  v_ids bigint[];
  v_placed bigint[];
  v_job postrider.jobs;
  v_end "char";
begin
  released := 0;
  finished := 0;
  failed := 0;
  succeeded := 0;
  is_blocked := false;
  if p_limit = 1 then
    update postrider_internal.members m set is_waiting = false
     where m.ctid = (
           select x.ctid
             from (select y.ctid as spot from postrider_internal.members y
                    where y.parent_id = p_tree.job_id and y.position > p_tree.reached and y.is_waiting
                    order by y.position limit 1) n
             join postrider_internal.members x on x.ctid = n.spot
            where x.is_waiting
              for update of x skip locked)
    returning m.job_id, m.position into v_id, reached;
    if not found then
      is_blocked := exists (select from postrider_internal.members m
        where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.is_waiting);
      return;
    end if;
    if p_tree.kind = 'c' and exists (
         select from postrider_internal.members m
          where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.position < release_members.reached
            and not m.is_waiting
            and (exists (select from postrider_internal.results r
                         where r.job_id = m.job_id and postrider_internal.is_failed_member(r.state) offset 0)
                 or exists (select from postrider_internal.outcomes o
                            where o.job_id = m.job_id and postrider_internal.is_failed_member(o.state) offset 0)))
    then
      -- The earlier step was cancelled while it waited, and its delta has not been counted yet. The chain must not pass
      -- it.
      update postrider_internal.members m set is_waiting = true where m.job_id = v_id;
      reached := p_tree.reached;
      is_blocked := true;
      return;
    end if;
    released := 1;
    select * into v_job from postrider.jobs j where j.id = v_id;
    v_end := postrider_internal.begin_member(v_job, p_tree);
    finished := (v_end is not null)::int;
    succeeded := coalesce(v_end = 's', false)::int;
    failed := coalesce(v_end in ('f', 'e', 'u', 'c'), false)::int;
    failed_job := case when failed = 1 then v_id end;
    perform postrider_internal.notify_idle_workers();
    return;
  end if;
  with next as materialized (
    select m.ctid as spot from postrider_internal.members m
     where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.is_waiting
     order by m.position
     limit p_limit),
  held as materialized (
    select m.ctid as spot from postrider_internal.members m
     where m.ctid = any (array(select n.spot from next n)) and m.is_waiting
       for update skip locked),
  freed as (
    update postrider_internal.members m set is_waiting = false from held h where m.ctid = h.spot
    returning m.job_id, m.position)
  select array_agg(f.job_id order by f.position), max(f.position), count(*) < (select count(*) from next)
    into v_ids, reached, is_blocked
    from freed f;
  if v_ids is null then
    return;
  end if;
  released := cardinality(v_ids);
  if is_blocked then
    reached := coalesce(
      (select m.position - 1 from postrider_internal.members m
        where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.is_waiting
        order by m.position limit 1), reached);
  end if;

  with due as materialized (
    select j.id, u.n, m.attempt, m.attempt + j.max_attempts as max_attempts, m.rekey,
           j.delivery = 'at_most_once' as at_most_once, greatest(j.run_at, p_tree.run_at) as run_at,
           least(j.expires_at, p_tree.expires_at) as expires_at, postrider_internal.has_callbacks(j) as has_callbacks,
           coalesce(t.id, 0) as track
      from unnest(v_ids) with ordinality as u(id, n)
     cross join lateral (select x.* from postrider.jobs x where x.id = u.id offset 0) j
     cross join lateral (select y.attempt, y.rekey from postrider_internal.members y where y.job_id = u.id offset 0) m
     cross join lateral (
           select postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane offset 0) k
      left join lateral (
           select t.id from postrider_internal.tracks t
            where t.queue = j.queue and t.lane = k.lane and t.priority = j.priority limit 1) t on true
     where j.kind = 'request' and j.run_if is null and not postrider_internal.job_is_templated(j)
       and (least(j.expires_at, p_tree.expires_at) <= now()) is not true),
  later as (
    insert into postrider_internal.scheduled (
      run_at, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks)
    select d.run_at, d.id, d.track, d.attempt, d.max_attempts, d.rekey, d.at_most_once, d.expires_at, p_tree.job_id,
           d.has_callbacks
      from due d where d.run_at > now()),
  soon as (
    insert into postrider_internal.ready (
      seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks)
    select nextval('postrider.jobs_id_seq'), o.id, o.track, o.attempt, o.max_attempts, o.rekey, o.at_most_once,
           o.expires_at, p_tree.job_id,
           o.has_callbacks
      from (select * from due d where d.run_at <= now() order by d.n) o)
  select array_agg(d.id) into v_placed from due d;

  if cardinality(v_placed) is distinct from cardinality(v_ids) then
    for v_job in
      select j.* from unnest(v_ids) with ordinality as u(id, n) join postrider.jobs j on j.id = u.id
       where u.id <> all (coalesce(v_placed, '{}'))
       order by u.n
    loop
      v_end := postrider_internal.begin_member(v_job, p_tree);
      if v_end is not null then
        finished := finished + 1;
        succeeded := succeeded + (v_end = 's')::int;
        if v_end in ('f', 'e', 'u', 'c') then
          failed := failed + 1;
          failed_job := coalesce(failed_job, v_job.id);
        end if;
      end if;
    end loop;
  end if;
  perform postrider_internal.notify_idle_workers();
end
$$;
comment on function postrider_internal.release_members(postrider_internal.trees, int) is
  'makes up to p_limit waiting members ready or begins them; is_blocked: other transactions lock some';
