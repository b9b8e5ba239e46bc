-- SPDX-License-Identifier: Apache-2.0
-- Twice a second for whoever looks, so it costs by what is shown: batches and chains with their counts, the members of
-- small ones, transfers under way. Of thousands of trees below a root those that have ended are left out first.
create or replace function postrider.watch(
  p_id bigint, p_rows int, out depth int, out id bigint, out kind text, out title text, out state text, out children bigint,
  out finished bigint, out failed bigint, out active bigint, out bytes_done bigint, out bytes_total bigint, out note text)
returns setof record
language sql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
  with recursive roots as materialized (
    select p_id as id where p_id is not null
     union
    select t.job_id
      from (select t.job_id, t.parent_id, t.state from postrider.trees t order by t.job_id desc limit 10000) t
     where p_id is null and t.parent_id is null and t.state in ('w', 'o')
     union
    select b.job_id
      from postrider.progress b
     where p_id is null and not exists (select from postrider.members m where m.job_id = b.job_id)),
  tree as (
    select t.job_id, array[t.job_id] as path, t.state not in ('w', 'o') as is_over, t.children
      from roots r join postrider.trees t on t.job_id = r.id
     union all
    select c.job_id, t.path || m.position::bigint, c.state not in ('w', 'o'), c.children
      from tree t
      join postrider.trees c on c.parent_id = t.job_id
      join postrider.members m on m.job_id = c.job_id),
  known as (
    select t.job_id, t.path, t.is_over from tree t
     union
    select r.id, array[r.id], false from roots r where not exists (select from tree t where t.job_id = r.id)
     union
    select m.job_id, t.path || m.position::bigint, t.is_over
      from tree t
     cross join lateral (
           select m.job_id, m.position from postrider.members m where m.parent_id = t.job_id order by m.position limit 12) m
     where t.children <= 12 and not exists (select from postrider.trees c where c.job_id = m.job_id)
     union
    select m.job_id, t.path || m.position::bigint, false
      from postrider.progress b
      join postrider.members m on m.job_id = b.job_id
      join tree t on t.job_id = m.parent_id),
  shown as (
    select k.job_id, k.path from known k order by cardinality(k.path) > 1 and k.is_over, k.path limit p_rows)
  select cardinality(s.path) - 1, j.id, j.kind,
         case when j.kind = 'request' then concat_ws(' ', j.name, j.method, j.url) else concat_ws(' ', j.kind, j.name, j.tag) end,
         j.state, j.children, j.children_finished, j.children_failed, greatest(t.released - t.finished, 0)::bigint,
         case when j.state = 'running' then j.bytes_done end, j.bytes_total,
         case when j.kind = 'request' then coalesce(j.error_code, j.status_code::text) else j.error_code end
    from shown s
    join postrider.job_status j on j.id = s.job_id
    left join postrider.trees t on t.job_id = s.job_id
   order by s.path
$$;
comment on function postrider.watch(bigint, int) is
  'private: what worker watch shows of a job and all below it; null: of all that is under way. At most p_rows rows, in the order of the tree';
