-- SPDX-License-Identifier: Apache-2.0
-- The worker decides which file a path may reach when it opens the file below its root. This function refuses paths
-- that can never be valid.
create or replace function postrider_internal.parts_defect(p_parts jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
  v_key text;
  v_place bigint;
begin
  if p_parts is null then
    return;
  end if;
  hint := 'Like [{"name": "image", "file": "cat.jpg", "type": "image/jpeg"}, {"name": "title", "content": "A cat"}].';
  if jsonb_typeof(p_parts) <> 'array' or jsonb_array_length(p_parts) not between 1 and 1000 then
    reason := 'must be an array of 1 to 1000 parts';
    return;
  end if;
  for v_part, v_place in select p.value, p.place - 1
    from jsonb_array_elements(p_parts) with ordinality as p(value, place) loop
    if jsonb_typeof(v_part) <> 'object' then
      reason := format('$[%s] is not an object', v_place);
      return;
    end if;
    select k into v_key from jsonb_object_keys(v_part) k
     where k not in ('name', 'file', 'content', 'base64', 'filename', 'type', 'max_bytes') limit 1;
    if found then
      reason := format('$[%s].%s: no such key', v_place, v_key);
      hint := 'The keys are name, one of file, content and base64, filename, type, max_bytes.';
      return;
    end if;
    select k.key into v_key from jsonb_each(v_part) k
     where jsonb_typeof(k.value) <> case k.key when 'max_bytes' then 'number' else 'string' end limit 1;
    if found then
      reason := format('$[%s].%s must be a %s', v_place, v_key, case v_key when 'max_bytes' then 'number'
                       else 'text' end);
      return;
    end if;
    if coalesce(v_part ->> 'name', '') = '' then
      reason := format('$[%s].name is missing', v_place);
    elsif num_nonnulls(v_part -> 'file', v_part -> 'content', v_part -> 'base64') <> 1 then
      reason := format('$[%s] needs exactly one of file, content and base64', v_place);
    elsif v_part ->> 'name' ~ E'[\\x01-\\x1f\\x7f]' or v_part ->> 'filename' ~ E'[\\x01-\\x1f\\x7f]'
       or v_part ->> 'type' ~ E'[\\x01-\\x1f\\x7f]' then
      reason := format('$[%s]: name, filename or type holds a line break or control character', v_place);
    elsif v_part ? 'file' and postrider_internal.file_path_defect(v_part ->> 'file') is not null then
      reason := format('$[%s].file %s', v_place, postrider_internal.file_path_defect(v_part ->> 'file'));
      hint := 'Give a path below the worker''s --files directory, like uploads/cat.jpg.';
    elsif v_part ? 'max_bytes' and ((v_part ->> 'max_bytes')::numeric not between 1 and 1e15
                                    or (v_part ->> 'max_bytes')::numeric % 1 <> 0) then
      reason := format('$[%s].max_bytes is out of range', v_place);
      hint := 'Give a whole number of bytes, at least 1.';
    elsif v_part ? 'base64' then
      begin
        perform decode(v_part ->> 'base64', 'base64');
      exception when data_exception then
        reason := format('$[%s].base64 is not base64', v_place);
        hint := 'Encode the bytes with encode(bytes, ''base64'') (RFC 4648, section 4).';
      end;
    end if;
    -- The worker checks the size of the value of a template, as it does for a file.
    if reason is null and v_part ? 'max_bytes' and not v_part ? 'file'
       and coalesce(v_part ->> 'content', '') not like '%{{%'
       and (v_part ->> 'max_bytes')::numeric
           < coalesce(octet_length(v_part ->> 'content'), octet_length(decode(v_part ->> 'base64', 'base64'))) then
      reason := format('$[%s] is longer than its max_bytes', v_place);
      hint := 'Raise max_bytes, or leave it out: only a file needs it.';
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.parts_defect(jsonb) is
  'why the parts of a multipart body are refused, and a hint; nulls: valid; never quotes a content';
