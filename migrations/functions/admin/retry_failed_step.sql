-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Single jobs run again all at once (rerun_failed_jobs). Jobs with pages are handled one by one.
--
-- A member of an ended batch or chain runs again with the whole tree, so each tree once. Jobs that cannot run again are
-- left out and not counted. They expired, are in another retry, were pruned meanwhile, their dedupe_key is in use, or
-- members of them are not concluded. An at_most_once job on which the server may have acted is left out too.
--
-- A retry in several steps gives the time at which it began. So a tree that failed again meanwhile is not repeated for
-- another of its members.
create or replace function postrider_internal.retry_failed_step(
  p_jobs bigint[], p_until timestamptz default 'infinity')
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain bigint[];
  v_others bigint[];
  v_id bigint;
  v_count bigint;
begin
  with failed as materialized (
    select r.job_id, j.parent_id is not null as is_member,
           j.parent_id is null and j.kind = 'request' and j.paginate is null as is_plain
      from unnest(p_jobs) u (id)
     cross join lateral (
           select x.job_id from postrider_internal.results x
            where x.job_id = u.id and x.state = 'f' and x.finished_at <= p_until offset 0) r
     cross join lateral (
           select x.parent_id, x.kind, x.paginate, x.expires_at, x.delivery
             from postrider.jobs x where x.id = r.job_id offset 0) j
     where (j.expires_at is null or j.expires_at > now())
       and not (j.delivery = 'at_most_once'
                and (select postrider_internal.can_have_acted(x) from postrider_internal.results x
                     where x.job_id = r.job_id)))
  select array_agg(f.job_id) filter (where f.is_plain),
         (select array_agg(distinct case when o.is_member then postrider_internal.topmost_ended_ancestor(o.job_id)
                           else o.job_id end)
            from failed o where not o.is_plain)
    into v_plain, v_others
    from failed f;

  v_count := postrider_internal.rerun_failed_jobs(v_plain);
  foreach v_id in array coalesce(v_others, '{}') loop
    continue when v_id is null or postrider_internal.can_have_acted_below(v_id);
    begin
      perform postrider.retry(v_id);
      v_count := v_count + 1;
    exception when sqlstate 'PR003' or sqlstate 'PR005' or unique_violation then
      null;
    end;
  end loop;
  return v_count;
end
$$;
comment on function postrider_internal.retry_failed_step(bigint[], timestamptz) is
  'retries those of the jobs that failed until this time, and returns how many; a batch or chain counts once';
