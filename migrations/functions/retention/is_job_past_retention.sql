-- SPDX-License-Identifier: Apache-2.0
-- A member whose tree is gone goes, too: its root was outdated.
create or replace function postrider_internal.is_job_past_retention(
  p_root bigint, p_is_single boolean, p_state "char", p_finished_at timestamptz, p_ended timestamptz,
  p_failed timestamptz)
returns boolean
language sql stable
as $$
  select case when p_root is not null then postrider_internal.is_tree_past_retention(p_root, p_ended, p_failed)
              when p_is_single then postrider_internal.is_past_retention(p_state, p_finished_at, p_ended, p_failed)
              else true end
$$;
comment on function postrider_internal.is_job_past_retention(bigint, boolean, "char", timestamptz, timestamptz,
                                                             timestamptz) is
  'whether a job that has ended is to be forgotten: of a tree by its root (null: gone, or none), a single one by its own state and end';
