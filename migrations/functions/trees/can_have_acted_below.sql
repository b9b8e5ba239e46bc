-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Visits the same jobs as reset_tree: the unsuccessful ones, and batches that succeeded with failed members.
create or replace function postrider_internal.can_have_acted_below(p_id bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive below as (
    select p_id as id
     union all
    select r.job_id
      from below b
      join postrider_internal.trees t on t.job_id = b.id and not (t.state = 's' and t.mode = 'f')
      join postrider_internal.members m on m.parent_id = b.id
     cross join lateral (select x.job_id, x.state from postrider_internal.results x
                         where x.job_id = m.job_id offset 0) r
     where r.state <> 's' or exists (select from postrider_internal.trees i where i.job_id = r.job_id))
  select exists (
    select from below b
     cross join lateral (select x.* from postrider_internal.results x where x.job_id = b.id offset 0) r
     cross join lateral (select y.delivery from postrider.jobs y where y.id = b.id offset 0) j
     where r.state = 'u' or j.delivery = 'at_most_once' and postrider_internal.can_have_acted(r))
$$;
comment on function postrider_internal.can_have_acted_below(bigint) is
  'whether an unsuccessful job at any depth of a batch or chain may be sent again only by a user';
