-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.headers_defect(p_headers jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_value jsonb;
begin
  if p_headers is null then
    return;
  end if;
  if jsonb_typeof(p_headers) <> 'object' then
    reason := 'must be an object';
    hint := 'Like {"Accept": "application/json", "X-Tag": ["a", "b"]}.';
    return;
  end if;
  for v_name, v_value in select * from jsonb_each(p_headers) loop
    if v_name !~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]+$' then
      reason := 'a name holds a character that is not allowed in header names';
      hint := 'A name has letters, digits and !#$%&''*+-.^_`|~ only (RFC 9110, 5.6.2).';
    elsif lower(v_name collate "C")
      in ('host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'te', 'trailer',
                            'upgrade', 'keep-alive') or lower(v_name collate "C") like 'proxy-%' then
      reason := format('the worker sets %s itself', v_name);
      hint := 'Leave this header out.';
    elsif jsonb_typeof(v_value) not in ('string', 'array')
       or jsonb_typeof(v_value) = 'array'
          and exists (select from jsonb_array_elements(v_value) e where jsonb_typeof(e) <> 'string') then
      reason := format('the value of %s is neither text nor an array of text', v_name);
      hint := 'Write numbers as text, like {"X-Page": "2"}.';
    elsif exists (
        select from jsonb_path_query(v_value, 'lax $[*]') e
         where postrider_internal.has_control_characters(e #>> '{}') or octet_length(e #>> '{}') > 8000) then
      reason := format('the value of %s holds a line break or control character, or is longer than 8000 bytes', v_name);
      hint := 'A header value is one line of text.';
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  -- The limit of a call (RequestHeaders.limit), which also has the headers of its service and credential.
  if octet_length(p_headers::text) > 500000 then
    reason := 'are longer than 500,000 bytes together';
    hint := 'Most servers accept 8,000 to 64,000 bytes; send long values in the body.';
  end if;
end
$$;
comment on function postrider_internal.headers_defect(jsonb) is
  'why a headers object is refused, and a hint; nulls: valid; never quotes a value';
