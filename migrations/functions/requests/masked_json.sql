-- SPDX-License-Identifier: Apache-2.0
-- after: requests/has_secret_word.sql, requests/is_secret_name.sql, requests/url_with_masked_login.sql
-- Masks the leaves below a secret name and keeps the shape, so that a list of arguments keeps its length. A null stays.
--
-- p_mask replaces texts, p_other other values; null: p_mask, too. p_is_secret: all leaves are masked.
create or replace function postrider_internal.masked_json(
  p_value jsonb, p_mask text default '***', p_other text default null, p_is_secret boolean default false) returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null or not p_is_secret and postrider_internal.has_secret_word(p_value::text) is not true then
    return p_value;
  end if;
  return case jsonb_typeof(p_value)
    when 'object' then (
      select coalesce(jsonb_object_agg(e.key, postrider_internal.masked_json(
               e.value, p_mask, p_other, p_is_secret or postrider_internal.is_secret_name(e.key))), '{}')
        from jsonb_each(p_value) e)
    when 'array' then (
      select coalesce(jsonb_agg(postrider_internal.masked_json(e.value, p_mask, p_other, p_is_secret)
                                order by e.place), '[]')
        from jsonb_array_elements(p_value) with ordinality e (value, place))
    when 'string' then to_jsonb(case when p_is_secret then p_mask
                                else postrider_internal.url_with_masked_login(p_value #>> '{}', p_mask) end)
    when 'null' then p_value
    else case when p_is_secret then to_jsonb(coalesce(p_other, p_mask)) else p_value end end;
end
$$;
comment on function postrider_internal.masked_json(jsonb, text, text, boolean) is
  'headers, query, form or JSON with *** for values of secret names and for passwords in URLs';
