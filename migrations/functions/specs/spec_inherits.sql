-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_is_absolute.sql
-- A key that is present counts as set, null too. A service goes to relative URLs, and through batches and chains, which
-- have none; a credential goes with the service only, so an absolute URL of another origin never gets it.
create or replace function postrider_internal.spec_inherits(p_spec jsonb, p_defaults jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when jsonb_typeof(p_spec) = 'object' then p_defaults
    - case when not p_spec ? 'service' and postrider_internal.url_is_absolute(p_spec ->> 'url') is not true then '{}'
           else '{service,credential}' end::text[] || p_spec
    else p_spec end
$$;
comment on function postrider_internal.spec_inherits(jsonb, jsonb) is
  'a spec with what it takes from its batch or chain (p_defaults, as member_defaults gives them)';
