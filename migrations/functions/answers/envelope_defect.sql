-- SPDX-License-Identifier: Apache-2.0
-- Checks services.envelope. Codes are compared as text, as in envelope_outcome, so 200 and "200" are the same code. A
-- name in errors holds no colon, because an error reads NAME: MESSAGE.
create or replace function postrider_internal.envelope_defect(p_envelope jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_seen jsonb := '[]';
  v_bad text;
begin
  if p_envelope is null then
    return;
  elsif jsonb_typeof(p_envelope) <> 'object' then
    reason := '$ must be an object';
    hint := 'Like {"code": "$.code", "success": [200], "message": "$.msg", "result": "$.data.result"}.';
    return;
  elsif not p_envelope ? 'code' then
    reason := '$.code is missing';
    hint := 'Give the path of the code in the answer, like {"code": "$.code", "success": [200]}.';
    return;
  end if;
  for v_key, v_value in select * from jsonb_each(p_envelope) loop
    if v_key in ('code', 'message', 'result') then
      if jsonb_typeof(v_value) <> 'string' then
        reason := format('$.%s is a %s and not a path', v_key, jsonb_typeof(v_value));
        hint := format('Give a jsonpath as text, like "$.%s".', v_key);
        return;
      end if;
      begin
        v_bad := postrider_internal.jsonpath_defect((v_value #>> '{}')::jsonpath);
      exception when others then
        v_bad := 'is not a jsonpath';
      end;
      if v_bad is not null then
        reason := format('$.%s %s', v_key, v_bad);
        hint := format('Give a jsonpath as text, like "$.%s".', v_key);
        return;
      end if;
    elsif v_key in ('success', 'token_expired', 'logged_out') then
      if jsonb_typeof(v_value) <> 'array' or v_key = 'success' and v_value = '[]' then
        reason := format('$.%s must be an array of codes', v_key);
        hint := format('Like {"%s": [%s]}.', v_key,
          case v_key when 'success' then '200' when 'token_expired' then '801' else '802' end);
        return;
      end if;
      select format('$.%s[%s]', v_key, e.place - 1) into v_bad
        from jsonb_array_elements(v_value) with ordinality as e(value, place)
       where jsonb_typeof(e.value) not in ('number', 'string', 'boolean') limit 1;
      if found then
        reason := v_bad || ' is not a code';
        hint := 'A code is a number, a text or a boolean.';
        return;
      end if;
      select format('$.%s[%s]', v_key, e.place - 1) into v_bad
        from jsonb_array_elements_text(v_value) with ordinality as e(value, place)
       where v_seen ? e.value limit 1;
      if found then
        reason := v_bad || ' is also in another list';
        hint := 'A code means one thing: success, token_expired or logged_out.';
        return;
      end if;
      v_seen := v_seen || coalesce((select jsonb_agg(e) from jsonb_array_elements_text(v_value) e), '[]');
    elsif v_key = 'if_missing' then
      if v_value <> '"success"' then
        reason := '$.if_missing must be "success" or left out';
        hint := 'Give "success" for APIs that send a code only with errors; otherwise leave it out.';
        return;
      end if;
    elsif v_key = 'errors' then
      if jsonb_typeof(v_value) <> 'object' then
        reason := '$.errors must be an object';
        hint := 'Map codes to names, like {"errors": {"301": "user_not_found"}}.';
        return;
      end if;
      select m.key into v_bad from jsonb_each(v_value) m
       where jsonb_typeof(m.value) <> 'string' or m.value #>> '{}' !~ E'^[^\\x01-\\x20\\x7f:]{1,100}$' limit 1;
      if found then
        reason := format('$.errors%s is not a name', postrider_internal.json_path_key(left(v_bad, 100)));
        hint := 'A name has 1 to 100 characters and neither spaces nor colons, like "user_not_found".';
        return;
      end if;
    else
      reason := format('$%s is not a key of an envelope', postrider_internal.json_path_key(left(v_key, 100)));
      hint := 'The keys are code, success, if_missing, token_expired, logged_out, message, result and errors.';
      return;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.envelope_defect(jsonb) is
  'why an envelope is refused, with the path, and a hint; nulls: valid';
