-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Looks where reset_tree goes: at what has not succeeded, and into batches that settled.
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
  'whether among what has not succeeded in a batch or chain, to any depth, is a call that only a person''s word may send again';
