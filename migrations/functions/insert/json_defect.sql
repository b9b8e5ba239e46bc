-- SPDX-License-Identifier: Apache-2.0
-- For `worker submit`. The error of PostgreSQL would quote the text, with passwords and bodies, on the terminal and in
-- the server's log.
create or replace function postrider_internal.json_defect(p_text text, out line int, out reason text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context text;
begin
  perform p_text::jsonb;
exception when others then
  get stacked diagnostics reason = pg_exception_detail, v_context = pg_exception_context;
  line := coalesce(substring(v_context from 'JSON data, line ([0-9]+)')::int, 1);
  reason := case when reason like 'Token %' then 'there is a word that is not valid in JSON'
                 when reason = '' then 'it cannot be stored as jsonb'
                 else regexp_replace(regexp_replace(reason, ', but found ".*', ''), E'^(Escape sequence) ".*" ',
                                     E'\\1 ') end;
  reason := rtrim(reason, '.');
end
$$;
comment on function postrider_internal.json_defect(text) is
  'the line on which a text stops being JSON and the reason, without quoting it; nulls: valid';
