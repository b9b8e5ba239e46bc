-- SPDX-License-Identifier: Apache-2.0
-- after: answers/jsonpath_is_cheap.sql
-- The regular expression accepts common envelopes at once. Paths that are missing count as cheap.
create or replace function postrider_internal.envelope_is_cheap(p_envelope jsonb) returns boolean
language sql immutable parallel safe
as $$
  select (p_envelope ->> 'code') || coalesce(p_envelope ->> 'message', '')
    || coalesce(p_envelope ->> 'result', '') ~ '^[$A-Za-z0-9_.]*$'
      or coalesce(postrider_internal.jsonpath_is_cheap((p_envelope ->> 'code')::jsonpath), true)
         and coalesce(postrider_internal.jsonpath_is_cheap((p_envelope ->> 'message')::jsonpath), true)
         and coalesce(postrider_internal.jsonpath_is_cheap((p_envelope ->> 'result')::jsonpath), true)
$$;
comment on function postrider_internal.envelope_is_cheap(jsonb) is
  'whether all paths of an envelope take time in proportion to the answer; false: unknown';
