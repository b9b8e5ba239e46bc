-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_tree_past_retention(p_root bigint, p_ended timestamptz,
                                                                     p_failed timestamptz) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select not postrider_internal.is_open_tree(t.state) and not t.is_draining
           and exists (select from postrider_internal.results r
                        where r.job_id = t.job_id and postrider_internal.is_past_retention(r.state, r.finished_at,
                            p_ended, p_failed))
      from postrider_internal.trees t where t.job_id = p_root), true)
$$;
comment on function postrider_internal.is_tree_past_retention(bigint, timestamptz, timestamptz) is
  'whether all jobs below a root are past their retention, because the root is or was deleted';
