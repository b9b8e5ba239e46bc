-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.raise_null_argument(p_name text, p_is_null boolean,
                                                                  p_hint text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_null then
    raise exception using errcode = 'PR001', column = p_name, message = format('%s: must not be null', p_name),
      hint = p_hint;
  end if;
end
$$;
comment on function postrider_internal.raise_null_argument(text, boolean, text) is
  'raises PR001 with a hint if an argument of a public function is null';
