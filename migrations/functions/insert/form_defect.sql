-- SPDX-License-Identifier: Apache-2.0
-- Each field of a form carries the names of all objects around it, so a form may be far larger than its JSON.
-- body_bytes adds up these sizes.
create or replace function postrider_internal.form_defect(p_form jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_form) <> 'object' then
    reason := 'must be an object';
    hint := 'Like {"name": "ada", "tags": ["a", "b"]}.';
  elsif octet_length(p_form::text) <= 20000 then
    return;
  elsif jsonb_path_exists(p_form, 'strict $.**{33}') then
    reason := 'is longer than 20,000 bytes and nested more than 32 deep';
    hint := 'Send it as body_json.';
  end if;
end
$$;
comment on function postrider_internal.form_defect(jsonb) is
  'why a form is refused, and a hint; nulls: valid; never quotes a value';
