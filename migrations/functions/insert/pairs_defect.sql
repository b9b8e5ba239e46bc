-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.pairs_defect(p_pairs jsonb) returns text
language sql immutable strict parallel safe
as $$
  select case
    when jsonb_typeof(p_pairs) <> 'object' then 'must be an object'
    when jsonb_path_exists(p_pairs,
                           'strict $.* ? (@.type() == "object" || @.type() == "array" && exists(@[*] ? (@.type() == "object" || @.type() == "array")))')
      then 'may hold only scalars and arrays of scalars'
    when octet_length(p_pairs::text) > 65536 then 'is longer than 64 KiB'
  end
$$;
comment on function postrider_internal.pairs_defect(jsonb) is 'why a query object is refused; null: valid';
