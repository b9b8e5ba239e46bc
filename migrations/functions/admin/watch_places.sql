-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Runs twice a second for each viewer, so its cost must depend on the rows shown. These are batches and chains with
-- counts, members of trees with at most 12, and transfers in progress. If p_rows is too small for all, ended trees
-- below a root are left out first.
--
-- It runs as the owner, so the session identifies the caller: the role of SET ROLE, otherwise the login. One role
-- inserted the whole tree (raise_foreign_parent), so the root decides whether the caller may see it.
create or replace function postrider_internal.watch_places(p_id bigint, p_rows int)
returns table (place bigint, depth int, job_id bigint, active bigint)
language sql stable security definer rows 100
set search_path = pg_catalog, pg_temp
as $$
  with recursive caller as materialized (
    select c.name, postrider_internal.sees_all(c.name) as sees_all
      from (select coalesce(nullif(current_setting('role'), 'none'), session_user::text) as name) c),
  roots as materialized (
    select r.id
      from (select p_id as id where p_id is not null
             union
            select t.job_id
              from (select t.job_id from postrider_internal.trees t
                     where postrider_internal.is_open_tree(t.state) and t.parent_id is null
                       order by t.job_id desc limit 10000) t
             where p_id is null
             union
            select b.job_id
              from postrider_internal.progress b
             where p_id is null and not exists (select from postrider_internal.members m where m.job_id = b.job_id)) r
     where (select c.sees_all from caller c)
        or exists (select from postrider.jobs j where j.id = r.id and j.created_by = (select c.name from caller c))),
  tree as (
    select t.job_id, array[t.job_id] as path, not postrider_internal.is_open_tree(t.state) as is_over, t.children
      from roots r join postrider_internal.trees t on t.job_id = r.id
     union all
    select c.job_id, t.path || m.position::bigint, not postrider_internal.is_open_tree(c.state), c.children
      from tree t
      join postrider_internal.trees c on c.parent_id = t.job_id
      join postrider_internal.members m on m.job_id = c.job_id),
  known as (
    select t.job_id, t.path, t.is_over from tree t
     union
    select r.id, array[r.id], false from roots r where not exists (select from tree t where t.job_id = r.id)
     union
    select m.job_id, t.path || m.position::bigint, t.is_over
      from tree t
     cross join lateral (
           select m.job_id, m.position from postrider_internal.members m where m.parent_id = t.job_id
             order by m.position limit 12) m
     where t.children <= 12 and not exists (select from postrider_internal.trees c where c.job_id = m.job_id)
     union
    select m.job_id, t.path || m.position::bigint, false
      from postrider_internal.progress b
      join postrider_internal.members m on m.job_id = b.job_id
      join tree t on t.job_id = m.parent_id),
  shown as (
    -- A member of a tree that has just ended may still have its last progress.
    select k.job_id, k.path from known k group by k.job_id, k.path
      order by cardinality(k.path) > 1 and bool_and(k.is_over), k.path limit p_rows)
  select row_number() over (order by s.path), cardinality(s.path) - 1, s.job_id,
         greatest(t.released - t.finished, 0)::bigint
    from shown s left join postrider_internal.trees t on t.job_id = s.job_id
$$;
comment on function postrider_internal.watch_places(bigint, int) is
  'the jobs that watch shows, in tree order, and how many members of each are in progress';
