-- SPDX-License-Identifier: Apache-2.0
-- Inlined by the planner (no query, no set): it is asked for every job of a service. Without a service there is nothing to apply.
create or replace function postrider.service_applies(p_url text, p_to_absolute boolean) returns boolean
language sql immutable parallel safe
as $$
  select p_to_absolute is not false or p_url !~* '^https?:'
$$;
comment on function postrider.service_applies(text, boolean) is
  'private: whether a service''s headers and query are added to a job''s URL, given as the job has it (services.apply_to_absolute)';
