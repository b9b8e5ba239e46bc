-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.key_header_defect(p_name text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name !~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]+$' then
    reason := 'is not a header name';
  elsif lower(p_name collate "C")
    in ('accept', 'accept-encoding', 'authorization', 'content-encoding', 'content-type', 'cookie', 'range',
        'user-agent')
     or lower(p_name collate "C") like 'if-%' then
    reason := format('%s already has another use in each call', p_name);
  elsif p_name is not null then
    select d.reason into reason from postrider_internal.headers_defect(jsonb_build_object(p_name, '')) d;
  end if;
  hint := case when reason is not null then 'Like Idempotency-Key; its value is the job''s key.' end;
end
$$;
comment on function postrider_internal.key_header_defect(text) is
  'why a header cannot carry Idempotency-Keys, and a hint; nulls: valid or no name';
