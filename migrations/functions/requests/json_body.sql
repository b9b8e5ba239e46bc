-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.json_body(p_json jsonb, p_place jsonb) returns bytea
language sql immutable parallel safe
as $$
  select convert_to((case when p_place ? 'json' and jsonb_typeof(p_json) = 'object' then p_json - (p_place ->> 'json')
                     else p_json end)::text, 'UTF8')
$$;
comment on function postrider_internal.json_body(jsonb, jsonb) is
  'the bytes of a JSON body, without the key that the place of a credential names';
