-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_values.sql
-- A text may stand for base64, so the sample is valid base64.
create or replace function postrider_internal.sample_arguments(p_types jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(rtrim(k.key, '?'), case
           when postrider_internal.argument_values(k.value) is not null
             then to_jsonb((postrider_internal.argument_values(k.value))[1])
           else case coalesce(nullif(jsonb_typeof(k.value), 'string'), k.value #>> '{}')
                when 'number' then '1' when 'boolean' then 'true' when 'object' then '{"x": "x"}'
                when 'array' then '["x"]' else '"xxxx"' end::jsonb end), '{}')
    from jsonb_each(p_types) k
$$;
comment on function postrider_internal.sample_arguments(jsonb) is
  'arguments with which an operation is checked when it is written';
