-- SPDX-License-Identifier: Apache-2.0
-- A member whose tree is deleted is past its retention too, because its root was.
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
  'whether an ended job is past its retention: a member by its root (null: deleted), a single job by its own end';
