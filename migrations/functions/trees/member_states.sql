-- SPDX-License-Identifier: Apache-2.0
-- Inlined. The look-ups are lateral: a join could as well begin with every result or tree there is, while the
-- statistics say that there are none.
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
  'the members of a batch or chain and how each stands: of a request its final state or null, of a batch or chain its state';
