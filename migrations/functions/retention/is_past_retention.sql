-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_past_retention(
  p_state "char", p_finished_at timestamptz, p_ended timestamptz, p_failed timestamptz) returns boolean
language sql immutable
as $$
  select p_finished_at < case when postrider_internal.is_failure(p_state) then p_failed else p_ended end
$$;
comment on function postrider_internal.is_past_retention("char", timestamptz, timestamptz, timestamptz) is
  'whether a job is past its retention: a failure if it ended before p_failed, another job if before p_ended';
