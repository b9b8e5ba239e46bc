-- SPDX-License-Identifier: Apache-2.0
-- {"enum": [...]} with one key is a list of values. Otherwise an argument is described like a validator.
create or replace function postrider_internal.argument_values(p_type jsonb) returns text[]
language sql immutable parallel safe
as $$
  select case when jsonb_typeof(p_type) = 'object' and p_type ? 'enum' and p_type - 'enum' = '{}'
                and jsonb_typeof(p_type -> 'enum') = 'array'
              then array(select case jsonb_typeof(e) when 'string' then e #>> '{}' end
                           from jsonb_array_elements(p_type -> 'enum') e) end
$$;
comment on function postrider_internal.argument_values(jsonb) is
  'the allowed values of an argument with an enum; null: its type is no enum';
