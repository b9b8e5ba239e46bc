-- SPDX-License-Identifier: Apache-2.0
-- In strict mode a missing key makes a condition unknown, and a filter drops unknown like false. So `exists(@ ?
-- (condition))` is always true or false, and only such a condition may be negated.
create or replace function postrider_internal.validator_path(p_template jsonb) returns text
language plpgsql immutable strict parallel safe
as $$
begin
  if jsonb_typeof(p_template) = 'object' then
    return (
      select format('(@.type() == "null" || @.type() == "object"%s)', string_agg(
        format(' && exists(@.%s ? %s)', to_json(m.key), postrider_internal.validator_path(m.value)), ''))
        from jsonb_each(p_template) m);
  elsif jsonb_typeof(p_template) = 'array' then
    return format('(@.type() == "null" || @.type() == "array" && !exists(@[*] ? (!exists(@ ? %s))))',
      postrider_internal.validator_path(p_template -> 0));
  elsif p_template = '"any"' then
    return '(@.type() != "")';
  end if;
  return format('(@.type() == "null" || @.type() == %s)', p_template);
end
$$;
comment on function postrider_internal.validator_path(jsonb) is
  'a validator as a condition of a strict jsonpath, equal to validator_mismatch and many times faster';
