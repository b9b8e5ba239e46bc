-- SPDX-License-Identifier: Apache-2.0
-- A text for a bytea means its UTF-8 bytes. Text in the SQL form (\x and pairs of hexadecimal digits) means the same
-- bytes as in INSERT. A JSON null for a jsonb column means SQL null.
create or replace function postrider_internal.spec_value(p_column text, p_type text, p_base text) returns text
language sql immutable parallel safe
as $$
  select case
    when p_type = 'jsonb' then format('nullif(s.spec -> %L, ''null'')', p_column)
    when p_type = 'text' and p_base is null then format('s.spec ->> %L', p_column)
    else format(
      case when p_base is null then '%s' else 'coalesce(%s, %s)' end,
      format(case when p_type = 'bytea'
             then E'case when s.spec ->> %1$L ~ E''^\\\\\\\\x([0-9A-Fa-f]{2})*$'' then decode(substr(s.spec ->> %1$L, 3), ''hex'') else convert_to(s.spec ->> %1$L, ''UTF8'') end'
                  when p_type like '%[]'
                    then 'case when jsonb_typeof(s.spec -> %1$L) = ''array'' then array(select (e #>> ''{}'')::%2$s from jsonb_array_elements(s.spec -> %1$L) e) end'
                  else '(s.spec ->> %1$L)::%2$s' end, p_column, rtrim(p_type, '[]')), p_base)
  end
$$;
comment on function postrider_internal.spec_value(text, text, text) is
  'the SQL that reads the value of a column from s.spec; p_base: its default';
