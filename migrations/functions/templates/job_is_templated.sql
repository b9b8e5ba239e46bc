-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function. Only members: in other jobs {{ has no meaning.
create or replace function postrider_internal.job_is_templated(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select p_job.parent_id is not null
     and (coalesce(p_job.url like '%{{%', false) or coalesce(p_job.query::text like '%{{%', false)
          or coalesce(p_job.headers::text like '%{{%', false) or coalesce(p_job.body_json::text like '%{{%', false)
          or coalesce(p_job.body_form::text like '%{{%', false) or coalesce(p_job.body_parts::text like '%{{%', false))
$$;
comment on function postrider_internal.job_is_templated(postrider.jobs) is
  'whether a member has {{ in a column with templates, so that fill_templates must run';
