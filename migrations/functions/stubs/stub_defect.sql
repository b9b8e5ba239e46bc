-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.stub_defect(p_stub jsonb, out path text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_example constant text :=
    'Like [{"match": {"method": "GET", "path": "/users/*"}, "status": 200, "body": {"id": 7}}].';
  v_entry jsonb;
  v_key text;
  v_value jsonb;
  v_type text;
  v_text text;
begin
  if p_stub is null then
    return;
  elsif jsonb_typeof(p_stub) <> 'array' or jsonb_array_length(p_stub) > 1000 then
    path := '$';
    reason := 'must be an array of at most 1000 answers';
    hint := v_example;
    return;
  end if;
  for v_at in 0 .. jsonb_array_length(p_stub) - 1 loop
    v_entry := p_stub -> v_at;
    path := format('$[%s]', v_at);
    if jsonb_typeof(v_entry) <> 'object' then
      reason := 'must be an object';
      hint := v_example;
      return;
    end if;
    for v_key, v_value in select * from jsonb_each(v_entry) loop
      v_type := jsonb_typeof(v_value);
      v_text := v_value #>> '{}';
      path := format('$[%s]%s', v_at, postrider_internal.json_path_key(left(v_key, 100)));
      if v_key = 'match' then
        select format('$[%s].match%s', v_at, d.path), d.reason, d.hint into path, reason, hint
          from postrider_internal.stub_match_defect(v_value) d;
      elsif v_key = 'status' then
        if v_type <> 'number' or v_text !~ '^[2-5][0-9]{2}$' then
          reason := 'is not a status from 200 to 599';
        end if;
        hint := 'Leave it out for 200.';
      elsif v_key = 'headers' then
        if v_type <> 'object' then
          reason := 'must be an object';
        else
          select 'has a wrong entry: ' || left(h.key, 100) into reason
            from jsonb_each(v_value) h
           cross join lateral jsonb_array_elements(
                 case jsonb_typeof(h.value) when 'array' then h.value else jsonb_build_array(h.value) end) e
           where h.key !~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]{1,200}$' or jsonb_typeof(e) <> 'string'
              or postrider_internal.has_control_characters(e #>> '{}') or length(e #>> '{}') > 8000
           limit 1;
        end if;
        hint := 'Like {"Retry-After": "30", "Set-Cookie": ["a=1", "b=2"]}.';
      elsif v_key = 'delay' then
        if not coalesce(postrider_internal.interval_or_null(v_value) between interval '0' and interval '1 h', false)
        then
          reason := 'must be an interval of at most 1 hour';
        end if;
        hint := 'Like "50 ms".';
      elsif v_key <> 'body' then
        reason := 'is not a key of a stub';
        hint := 'The keys are match, status, headers, body and delay.';
      end if;
      if reason is not null then
        return;
      end if;
    end loop;
  end loop;
  path := null;
  hint := null;
end
$$;
comment on function postrider_internal.stub_defect(jsonb) is
  'why services.stub is refused, with the path, and a hint; nulls: valid';
