-- SPDX-License-Identifier: Apache-2.0
-- after: rules/rules_are_cheap.sql
create or replace function postrider_internal.has_cheap_rules(p_job postrider.jobs, p_rules jsonb) returns boolean
language sql immutable parallel safe
as $$
  select (p_job.rules is null or postrider_internal.rules_are_cheap(p_job.rules))
     and (p_job.operation_rules is null or postrider_internal.rules_are_cheap(p_job.operation_rules))
     and (p_rules is null or postrider_internal.rules_are_cheap(p_rules))
$$;
comment on function postrider_internal.has_cheap_rules(postrider.jobs, jsonb) is
  'whether the answer rules of a job, its operation and its service are cheap, so that the claiming session may judge';
