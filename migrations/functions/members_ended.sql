-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.members_ended(p_tree bigint[], p_job bigint[], p_state "char"[]) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider.tree_deltas (tree_id, finished, failed, succeeded, failed_job_id)
  select m.tree, count(*), count(*) filter (where m.state in ('f', 'u', 'e', 'c')), count(*) filter (where m.state = 's'),
         (array_agg(m.job) filter (where m.state in ('f', 'u', 'e', 'c')))[1]
    from unnest(p_tree, p_job, p_state) as m(tree, job, state)
   group by m.tree
$$;
comment on function postrider.members_ended(bigint[], bigint[], "char"[]) is
  'private: tells batches and chains that members have ended, and in which state';
