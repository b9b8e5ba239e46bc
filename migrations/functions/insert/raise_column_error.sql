-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.raise_column_error(p_table text, p_column text, p_reason text,
                                                                 p_hint text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_column is not null then
    raise exception using errcode = 'PR001', schema = 'postrider', table = p_table, column = p_column,
      message = format('%s.%s: %s', p_table, p_column, p_reason), hint = p_hint;
  end if;
end
$$;
comment on function postrider_internal.raise_column_error(text, text, text, text) is
  'raises PR001 with reason and hint for a column that breaks a rule; does nothing if p_column is null';
