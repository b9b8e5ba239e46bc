-- SPDX-License-Identifier: Apache-2.0
-- The cache does not store such an answer, because jobs without the rule would take it for a success.
create or replace function postrider_internal.has_own_rule(p_job bigint, p_fence bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from postrider_internal.attempt_notes n
                  where n.job_id = p_job and n.fence = p_fence and n.rule not like 'service%');
end
$$;
comment on function postrider_internal.has_own_rule(bigint, bigint) is
  'whether a rule of the job or its operation decided an attempt';
