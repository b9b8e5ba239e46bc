-- SPDX-License-Identifier: Apache-2.0
-- after: answers/envelope_is_cheap.sql, answers/validator_is_cheap.sql, pages/page_next_path.sql
create or replace function postrider_internal.expensive_columns(p_job postrider.jobs, p_envelope jsonb,
                                                                p_rules jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(', ',
    case when not postrider_internal.jsonpath_is_cheap(p_job.extract::jsonpath) then 'extract' end,
    case when not postrider_internal.validator_is_cheap(p_job.validator) then 'validator' end,
    case when not postrider_internal.jsonpath_is_cheap((p_job.paginate ->> 'items')::jsonpath)
      then 'paginate.items' end,
    case when not postrider_internal.jsonpath_is_cheap(postrider_internal.page_next_path(p_job.paginate))
      then 'paginate.next' end,
    case when not postrider_internal.envelope_is_cheap(p_envelope) then 'services.envelope' end,
    case when not postrider_internal.rules_are_cheap(p_job.rules) then 'rules' end,
    case when not postrider_internal.rules_are_cheap(p_job.operation_rules) then 'rules of the operation' end,
    case when not postrider_internal.rules_are_cheap(p_rules) then 'services.rules' end)
$$;
comment on function postrider_internal.expensive_columns(postrider.jobs, jsonb, jsonb) is
  'the names of the columns whose expressions may take long on an answer';
