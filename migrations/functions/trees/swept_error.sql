-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.swept_error(p_tree postrider_internal.trees,
                                                          p_state "char") returns text
language sql stable parallel safe
return case p_state
  when 'c' then format('cancelled: job %s, which contains it, has ended', p_tree.job_id)
  else format('skipped: %s %s ended before this job began', postrider_internal.kind_name(p_tree.kind),
              p_tree.job_id) end;
comment on function postrider_internal.swept_error(postrider_internal.trees, "char") is
  'the error of a job that the end of its batch or chain has ended, as cancelled or as skipped';
