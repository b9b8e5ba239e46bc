-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- ids: released members that begin_member must begin, because they have expired or joined at this moment with
-- templates, run_if or own members.
create or replace function postrider_internal.release_plain_members(
  p_tree postrider_internal.trees, p_limit int, out ids bigint[], out released int, out reached int,
  out is_blocked boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_placed bigint[];
begin
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
  released := coalesce(cardinality(v_ids), 0);
  if released = 0 then
    return;
  end if;
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

  if cardinality(v_placed) is distinct from released then
    ids := array(
      select u.id from unnest(v_ids) with ordinality as u(id, n)
       where u.id <> all (coalesce(v_placed, '{}'))
       order by u.n);
  end if;
end
$$;
comment on function postrider_internal.release_plain_members(postrider_internal.trees, int) is
  'makes up to p_limit waiting members ready or scheduled; is_blocked: other transactions lock some';
