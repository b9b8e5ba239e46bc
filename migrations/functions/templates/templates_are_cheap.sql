-- SPDX-License-Identifier: Apache-2.0
-- Each template may read an answer of 64 kB and insert a value of that size; answer_parts leaves
-- larger answers to a judging session.
create or replace function postrider_internal.templates_are_cheap(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(pg_column_size(p_job.body_json), 0) + coalesce(pg_column_size(p_job.body_form), 0)
         + coalesce(pg_column_size(p_job.body_parts), 0) + coalesce(pg_column_size(p_job.query), 0)
         + coalesce(pg_column_size(p_job.headers), 0) <= 32768
     and cardinality(string_to_array(
           coalesce(p_job.url, '') || coalesce(p_job.query::text, '') || coalesce(p_job.headers::text, '')
           || coalesce(p_job.body_json::text, '') || coalesce(p_job.body_form::text, '')
             || coalesce(p_job.body_parts::text, ''),
           '{{')) <= 21
$$;
comment on function postrider_internal.templates_are_cheap(postrider.jobs) is
  'whether a member has at most 20 templates, in columns of at most 32 kB together';
