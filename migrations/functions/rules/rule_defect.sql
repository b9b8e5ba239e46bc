-- SPDX-License-Identifier: Apache-2.0
-- A name holds no colon, because an error reads NAME: MESSAGE, as for services.envelope.
create or replace function postrider_internal.rule_defect(p_rule jsonb, out path text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_do text;
  v_key text;
  v_value jsonb;
  v_text text;
  v_type text;
  v_meant text[];
begin
  path := '';
  v_do := case when jsonb_typeof(p_rule) = 'object' then p_rule ->> 'do' end;
  v_meant := case v_do
    when 'succeed' then '{}'
    when 'retry' then '{within,wait,error,repeatable}'
    when 'fail' then '{error}'
    when 'throttle' then '{wait,error,repeatable}'
    when 'refresh' then '{repeatable}' end;
  if jsonb_typeof(p_rule) is distinct from 'object' then
    reason := 'must be an object';
    hint := 'Like {"status": 404, "do": "retry"}.';
    return;
  elsif v_meant is null then
    path := '.do';
    reason := case when p_rule ? 'do' then 'is not an action' else 'is missing' end;
    hint := 'Give succeed, retry, fail, throttle or refresh.';
    return;
  end if;
  select k into v_key from jsonb_object_keys(p_rule) k
   where k <> all ('{status,if,methods,do,name,within,wait,error,repeatable}') limit 1;
  if found then
    path := postrider_internal.json_path_key(left(v_key, 100));
    reason := 'is not a key of a rule';
    hint := 'The keys are status, if, methods, do, name, within, wait, error and repeatable.';
    return;
  end if;
  select k into v_key from jsonb_object_keys(p_rule) k
   where k <> all ('{status,if,methods,do,name}' || v_meant) limit 1;
  if found then
    path := '.' || v_key;
    reason := format('means nothing for %s', v_do);
    hint := case v_key when 'within' then 'It is for retry.' when 'wait' then 'It is for retry and throttle.'
      when 'error' then 'It is for fail, retry and throttle.' else 'It is for retry, throttle and refresh.' end;
    return;
  elsif not p_rule ?| '{status,if,methods}' then
    reason := 'has no condition';
    hint := 'Give status, if or methods; all that are given must hold.';
    return;
  end if;

  for v_key, v_value in select * from jsonb_each(p_rule) loop
    v_type := jsonb_typeof(v_value);
    v_text := v_value #>> '{}';
    if v_key = 'status' then
      begin
        if v_type not in ('number', 'string') or v_type = 'number' and v_text !~ '^[0-9]+$'
           or isempty(postrider_internal.rule_statuses(v_value))
           or not postrider_internal.rule_statuses(v_value) <@ int4multirange(int4range(100, 1000)) then
          reason := 'is not a set of statuses';
        end if;
      exception when data_exception then
        reason := 'is not a set of statuses';
      end;
      hint := 'Like 404, or a text of ranges like "{[404,405),[500,600)}".';
    elsif v_key = 'methods' then
      if v_type <> 'array' or v_value = '[]' or exists (
           select from jsonb_array_elements(v_value) m
            where m <> all (array(select to_jsonb(n) from unnest('{GET,POST,HEAD,PUT,DELETE,PATCH,OPTIONS}'::text[]) n))
         ) then
        reason := 'must be an array of methods';
      end if;
      hint := 'Like ["GET", "HEAD"].';
    elsif v_key = 'if' then
      reason := case when v_type <> 'string' then 'must be a text'
        else coalesce(postrider_internal.rule_path_defect(v_text), case
          when not postrider_internal.is_predicate(v_text::jsonpath) then 'is not a condition but a value' end) end;
      hint := 'Give a jsonpath that is true or false, like "$.body.code == 7" or "exists($.body.errors)".';
    elsif v_key = 'within' then
      if not coalesce(postrider_internal.interval_or_null(v_value) > interval '0'
                      and postrider_internal.interval_or_null(v_value) <= interval '30 days', false) then
        reason := 'must be an interval above 0 and at most 30 days';
      end if;
      hint := 'Like "2 min".';
    elsif v_key = 'wait' then
      if v_type = 'string' and postrider_internal.is_rule_path(v_text) then
        reason := postrider_internal.rule_path_defect(v_text);
      elsif not coalesce(postrider_internal.interval_or_null(v_value) > interval '0', false) then
        reason := 'must be an interval above 0, or a path';
      end if;
      hint := 'Like "30 s" or "$.body.retry_in".';
    elsif v_key = 'name' then
      if v_type <> 'string' or v_text !~ E'^[^\\x01-\\x20\\x7f:]{1,100}$' then
        reason := 'is not a name';
      end if;
      hint := 'A name has 1 to 100 characters and neither spaces nor colons, like "user_not_found".';
    elsif v_key = 'error' then
      reason := case
        when v_type <> 'string' or length(v_text) not between 1 and 500 then 'must be a text of 1 to 500 characters'
        when postrider_internal.is_rule_path(v_text) then postrider_internal.rule_path_defect(v_text) end;
      hint := 'Give a sentence, or a path to one, like "$.body.errors[0].message".';
    elsif v_key = 'repeatable' then
      if v_type <> 'boolean' then
        reason := 'must be true or false';
      end if;
      hint := 'Give true if a second call is harmless although the job is at_most_once.';
    end if;
    if reason is not null then
      path := '.' || v_key;
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.rule_defect(jsonb) is
  'why an answer rule is refused, with the path in the rule, and a hint; reason null: valid';
