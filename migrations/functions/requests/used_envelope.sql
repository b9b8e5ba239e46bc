-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function.
create or replace function postrider_internal.used_envelope(p_use_envelope boolean, p_envelope jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select case when p_use_envelope is not false then p_envelope end
$$;
comment on function postrider_internal.used_envelope(boolean, jsonb) is
  'the envelope for the answer of a job, from jobs.use_envelope and services.envelope; null: none';
