-- SPDX-License-Identifier: Apache-2.0
-- Called for a row at INSERT, and for the body of a member when its templates are filled. p_has_templates: values of
-- templates are not known yet.
create or replace function postrider_internal.page_body_defect(p_spec jsonb, p_body jsonb,
                                                               p_has_templates boolean) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_path text[];
  v_at jsonb;
begin
  foreach v_key in array array['param', 'size_param'] loop
    v_path := postrider_internal.page_path(p_spec ->> v_key);
    continue when v_path is null;
    v_at := p_body;
    for i in 1 .. cardinality(v_path) loop
      if jsonb_typeof(v_at) = 'object' then
        v_at := v_at -> v_path[i];
      elsif jsonb_typeof(v_at) = 'array' and v_path[i] ~ '^[0-9]{1,4}$' and v_at -> v_path[i]::int is not null then
        v_at := v_at -> v_path[i]::int;
      elsif p_has_templates and jsonb_typeof(v_at) = 'string' and v_at::text like '%{{%' then
        v_at := null;
        exit;
      elsif i = 1 or jsonb_typeof(v_at) <> 'null' or v_path[i] ~ '^[0-9]+$' then
        return format('$.%s has no place in body_json: %s is %s', v_key,
          case i when 1 then 'it' else array_to_string(v_path[:i - 1], '.') end,
          case jsonb_typeof(v_at) when 'array' then 'a list without that element' when 'null' then 'null'
            else 'a ' || jsonb_typeof(v_at) end);
      else
        v_at := null;
        exit;
      end if;
      if v_at is null then
        if v_path[i + 1] ~ '^[0-9]+$' then
          return format('$.%s has no place in body_json: it has no list %s', v_key, array_to_string(v_path[:i], '.'));
        end if;
        exit;
      end if;
    end loop;
    if v_at <> 'null' then
      return format('$.%s sets a value that body_json has already', v_key);
    end if;
  end loop;
  return null;
end
$$;
comment on function postrider_internal.page_body_defect(jsonb, jsonb, boolean) is
  'why paginate cannot set its arguments in a JSON body; null: it can';
