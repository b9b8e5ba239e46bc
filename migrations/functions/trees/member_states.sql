-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. The look-ups are lateral, because a join might start with all results or trees
-- while the statistics say that the tables are empty.
create or replace function postrider_internal.member_states(p_tree bigint)
returns table (job_id bigint, "position" int, name text, is_tree boolean, state "char", status_code smallint)
language sql stable
as $$
  select m.job_id, m.position, m.name, t.job_id is not null, coalesce(r.state, t.state), r.status_code
    from postrider_internal.members m
    left join lateral (select t.job_id, t.state from postrider_internal.trees t where t.job_id = m.job_id offset 0) t
      on true
    left join lateral (select r.state, r.status_code from postrider_internal.results r
                       where r.job_id = m.job_id offset 0) r on true
   where m.parent_id = p_tree
$$;
comment on function postrider_internal.member_states(bigint) is
  'the members of a batch or chain with their states; the state of an unfinished request is null';
