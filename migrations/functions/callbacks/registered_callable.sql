-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.registered_callable(
  p_callback text, p_function text, p_takes text, out call text, out path text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select c.call, c.path into call, path from postrider_internal.callable(p_function, p_takes) c;
  if p_function is null then
    raise exception using errcode = '42883', message = format('callback %s is no longer registered', p_callback);
  elsif call is null then
    raise exception using errcode = '42883', message = format(
      'function %s no longer exists, or %s has no right to its schema', p_function, quote_ident(current_user));
  end if;
end
$$;
comment on function postrider_internal.registered_callable(text, text, text) is
  'like callable, for a registered function; raises 42883 if it can no longer be called';
