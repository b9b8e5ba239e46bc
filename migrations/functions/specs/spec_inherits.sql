-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_is_absolute.sql
-- A key that is present counts as set, even with null. A service is inherited by relative URLs, and by batches and
-- chains, which have no URL. A credential is inherited only together with the service, so an absolute URL of another
-- origin never gets it. A tracestate is inherited only together with the traceparent.
--
-- A request of an operation inherits when it is inserted, because only then its URL is known.
create or replace function postrider_internal.spec_inherits(p_spec jsonb, p_defaults jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when jsonb_typeof(p_spec) = 'object' and jsonb_typeof(p_spec -> 'operation') = 'string'
         and not p_spec ?| '{chain,batch}' then p_spec
    when jsonb_typeof(p_spec) = 'object' then p_defaults
    - case when not p_spec ? 'service' and postrider_internal.url_is_absolute(p_spec ->> 'url') is not true then '{}'
           else '{service,credential}' end::text[]
    - case when p_spec ? 'traceparent' then '{tracestate}' else '{}' end::text[] || p_spec
    else p_spec end
$$;
comment on function postrider_internal.spec_inherits(jsonb, jsonb) is
  'a spec with the values inherited from its batch or chain (p_defaults, see member_defaults)';
