-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function.
create or replace function postrider_internal.used_credential(p_credential text, p_service_credential text) returns text
language sql immutable parallel safe
begin atomic
  select nullif(coalesce(p_credential, p_service_credential), 'none');
end;
comment on function postrider_internal.used_credential(text, text) is
  'the credential of a job''s call, from jobs.credential and services.credential; null: none';
