-- SPDX-License-Identifier: Apache-2.0
-- Inlined by the planner. Only members: in other jobs {{ means nothing.
create or replace function postrider_internal.job_is_templated(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select p_job.parent_id is not null
     and (coalesce(p_job.url like '%{{%', false) or coalesce(p_job.query::text like '%{{%', false)
          or coalesce(p_job.headers::text like '%{{%', false) or coalesce(p_job.body_json::text like '%{{%', false)
          or coalesce(p_job.body_form::text like '%{{%', false) or coalesce(p_job.body_parts::text like '%{{%', false))
$$;
comment on function postrider_internal.job_is_templated(postrider.jobs) is
  'whether a member''s row holds {{ where templates are looked for, so that it must go through resolve';
