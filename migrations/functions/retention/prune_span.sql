-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- A batch or chain is deleted as a whole: members go with their root or after it. Nothing here waits for a lock. It
-- locks the result of a plain job, or the row of the root of a tree, the same row where retry begins. Locked rows stay
-- this time.
create or replace function postrider_internal.prune_span(
  p_part text, p_after bigint, p_limit int, p_ended timestamptz, p_failed timestamptz, out reached bigint,
  out pruned bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
  v_is_young boolean;
  v_ids bigint[];
  v_roots bigint[];
  v_locked bigint[];
begin
  pruned := 0;
  execute format($q$
    select max(s.id), count(*), bool_and(s.created_at >= greatest($3, $4)),
           array_agg(s.id order by s.id) filter (where s.may_go),
           array_agg(s.root_id order by s.id) filter (where s.may_go)
      from (select j.id, j.created_at, t.root_id,
                   r.job_id is not null
                   and postrider_internal.is_job_past_retention(t.root_id, j.is_single, r.state, r.finished_at, $3,
                                                                $4) as may_go
              from (select x.id, x.created_at, x.parent_id is null and x.kind = 'request' as is_single,
                           case when x.kind = 'request' then x.parent_id else x.id end as tree
                      from postrider_internal.jobs_%1$s x where x.id > $1 order by x.id limit $2) j
              left join lateral (
                   select r.job_id, r.state, r.finished_at from postrider_internal.results_%1$s r
                     where r.job_id = j.id offset 0) r on true
              left join lateral (select t.root_id from postrider_internal.trees t where t.job_id = j.tree offset 0) t
                on true) s
  $q$, p_part) into reached, v_count, v_is_young, v_ids, v_roots using p_after, p_limit, p_ended, p_failed;
  if v_count < p_limit or v_is_young then
    reached := null;
  end if;
  if v_ids is null then
    return;
  end if;
  select array_agg(l.job_id) into v_locked
    from (select distinct u.id from unnest(v_roots) u (id) order by u.id) u
   cross join lateral (select t.job_id from postrider_internal.trees t where t.job_id = u.id for update skip locked) l;
  execute format($q$
    select array_agg(l.job_id order by l.job_id), array_agg(u.root_id order by l.job_id)
      from unnest($1, $2) u (id, root_id)
     cross join lateral (
           select j.parent_id is null and j.kind = 'request' as is_single
             from postrider_internal.jobs_%1$s j
            where j.id = u.id and (j.callback_url is null or not postrider_internal.has_pending_webhook(j.id))
           offset 0) j
     cross join lateral (
           select r.job_id from postrider_internal.results_%1$s r
            where r.job_id = u.id and postrider_internal.is_job_past_retention(u.root_id, j.is_single, r.state,
                r.finished_at, $4, $5)
              for update skip locked) l
     where u.root_id is null or u.root_id in (select unnest($3))
  $q$, p_part) into v_ids, v_roots using v_ids, v_roots, v_locked, p_ended, p_failed;
  if v_ids is null then
    return;
  end if;
  v_ids := postrider_internal.delete_jobs(p_part, v_ids, v_roots);
  pruned := coalesce(cardinality(v_ids), 0);
  if pruned = 0 then
    return;
  end if;
  perform postrider_internal.record_prune(v_ids[1], v_ids[pruned], pruned);
end
$$;
comment on function postrider_internal.prune_span(text, bigint, int, timestamptz, timestamptz) is
  'deletes old jobs among the next p_limit ids behind p_after; returns the last id (null: end) and how many';
