-- SPDX-License-Identifier: Apache-2.0
-- Runs as the caller, so the rules and rights of INSERT hold. A key's value is converted by itself, which costs
-- some microseconds and lets a type error name its place.
create or replace function postrider.submit(spec jsonb) returns bigint
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_type text;
  v_columns text[] := '{}';
  v_values text[] := '{}';
  v_literal text;
  v_id bigint;
  v_message text;
  v_state text;
begin
  if octet_length(spec::text) > 1048576 then
    raise exception using errcode = 'PR006', message = '$: the spec is larger than 1 MB', hint = 'Split it.';
  end if;
  if spec is null or jsonb_typeof(spec) <> 'object' then
    raise exception using errcode = 'PR006', message = '$: the spec must be an object',
      hint = 'Like {"url": "https://api.example.com/ping"}; the keys are the columns of postrider.jobs.';
  end if;
  for v_key, v_value in select * from jsonb_each(spec) loop
    if v_key in ('batch', 'chain') then
      raise exception using errcode = 'PR002', message = format('$.%s: this key is not supported yet', v_key),
        hint = 'Submit single requests; a later version of Postrider brings batches and chains.';
    end if;
    select format_type(a.atttypid, a.atttypmod) into v_type
      from pg_attribute a
     where a.attrelid = 'postrider.jobs'::regclass and a.attname = v_key and a.attnum > 0 and not a.attisdropped
       and a.attname not in ('id', 'kind', 'created_at', 'created_by');
    if not found then
      raise exception using errcode = 'PR006', message = format('$.%s: no such key', v_key),
        hint = 'The keys are the columns of postrider.jobs.';
    end if;
    continue when jsonb_typeof(v_value) = 'null' and v_type <> 'jsonb';
    if v_type in ('text', 'interval', 'timestamp with time zone', 'int4multirange', 'jsonpath', 'bytea')
       and jsonb_typeof(v_value) <> 'string'
       or v_type in ('smallint', 'integer', 'bigint') and jsonb_typeof(v_value) <> 'number'
       or v_type = 'boolean' and jsonb_typeof(v_value) <> 'boolean'
       or v_type = 'interval[]' and jsonb_typeof(v_value) <> 'array' then
      raise exception using errcode = 'PR006',
        message = format('$.%s: %s is not of type %s', v_key, jsonb_typeof(v_value), v_type),
        hint = case v_type when 'interval' then 'Write it as text, like "30 s".'
                           when 'interval[]' then 'Write an array of texts, like ["5 s", "1 min"].'
                           else format('Write a %s.', v_type) end;
    end if;
    begin
      if v_type = 'jsonb' then
        v_literal := quote_literal(v_value::text);
      elsif v_type = 'bytea' then
        v_literal := quote_literal(convert_to(v_value #>> '{}', 'UTF8')::text);
      elsif v_type = 'interval[]' then
        select quote_literal(array_agg(e::interval)::text) into v_literal from jsonb_array_elements_text(v_value) e;
      else
        execute format('select quote_literal(($1::%s)::text)', v_type) into v_literal using v_value #>> '{}';
      end if;
    exception when others then
      get stacked diagnostics v_message = message_text;
      raise exception using errcode = 'PR006', message = format('$.%s: %s', v_key, v_message),
        hint = format('Write a value of type %s.', v_type);
    end;
    v_columns := v_columns || quote_ident(v_key);
    v_values := v_values || (v_literal || '::' || v_type);
  end loop;
  if v_columns = '{}' then
    raise exception using errcode = 'PR006', message = '$: the spec has no url', hint = 'Give at least {"url": "https://…"}.';
  end if;
  begin
    execute format('insert into postrider.jobs (%s) values (%s) returning id',
      array_to_string(v_columns, ', '), array_to_string(v_values, ', ')) into v_id;
  exception when others then
    get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_literal = pg_exception_hint;
    raise exception using errcode = v_state, message = regexp_replace(v_message, '^jobs\.', '$.'), hint = v_literal;
  end;
  return v_id;
end
$$;
comment on function postrider.submit(jsonb) is
  'public: inserts the job that a spec describes, keys as the columns of jobs; returns its id';
