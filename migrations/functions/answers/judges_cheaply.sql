-- SPDX-License-Identifier: Apache-2.0
-- after: answers/envelope_is_cheap.sql, answers/validator_is_cheap.sql, pages/page_next_path.sql
-- PostgreSQL inlines this function into prepare.
create or replace function postrider_internal.judges_cheaply(p_job postrider.jobs, p_envelope jsonb) returns boolean
language sql immutable parallel safe
as $$
  select (p_job.extract is null or postrider_internal.jsonpath_is_cheap(p_job.extract::jsonpath))
     and (p_job.validator is null or postrider_internal.validator_is_cheap(p_job.validator))
     and (p_envelope is null or postrider_internal.envelope_is_cheap(p_envelope))
     and (p_job.paginate is null
          or coalesce(postrider_internal.jsonpath_is_cheap((p_job.paginate ->> 'items')::jsonpath), true)
             and coalesce(postrider_internal.jsonpath_is_cheap(postrider_internal.page_next_path(p_job.paginate)),
                          true))
$$;
comment on function postrider_internal.judges_cheaply(postrider.jobs, jsonb) is
  'whether all expressions of a job and its envelope are cheap, so that the claiming session may judge its answer';
