-- SPDX-License-Identifier: Apache-2.0
-- Runs as the role that inserts. So a role that was given INSERT by mistake still cannot register code. The stored name
-- of the function must not depend on the session, so quote_all_identifiers is off.
create or replace function postrider_internal.callables_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
  v_is_hook boolean := tg_table_name = 'hooks';
  v_takes text := case when v_is_hook then 'bigint, text' else 'bigint' end;
  v_example text := case when v_is_hook then 'app.on_event(bigint, text)' else 'app.on_paid(bigint)' end;
  v_call text;
  v_column text;
  v_reason text;
  v_hint text;
begin
  if not pg_has_role(current_user, (select c.relowner from pg_class c where c.oid = tg_relid), 'USAGE') then
    raise exception using errcode = '42501', schema = 'postrider', table = tg_table_name,
      message = format('%s: only the owner of the schema may register a function', tg_table_name),
      hint = 'Ask the owner to insert the row; workers run the function that it names.';
  end if;
  if v_is_hook then
    if new.event is null or new.event not in ('will_start', 'will_stop', 'did_stop') then
      v_column := 'event';
      v_reason := 'must be will_start, will_stop or did_stop';
      v_hint := 'will_start runs before the call; will_stop and did_stop run before and after the callback.';
    elsif new.service is not null and not exists (select from postrider.services s where s.name = new.service) then
      v_column := 'service';
      v_reason := format('there is no service %s', quote_literal(new.service));
      v_hint := 'Insert it into postrider.services first, or leave it out for the jobs of all services.';
    end if;
  elsif new.name is null or length(new.name) not between 1 and 200 then
    v_column := 'name';
    v_reason := 'must have 1 to 200 characters';
    v_hint := 'Jobs name it in on_success or on_failure.';
  end if;
  if v_column is null then
    begin
      v_call := (postrider_internal.callable(new.function, v_takes)).call;
    exception when others then
      v_call := null;
    end;
    if v_call is null then
      v_column := 'function';
      v_reason := format('there is no function %s that takes (%s)', coalesce(quote_literal(new.function), 'null'),
                         v_takes);
      v_hint := format('Create it first, and give it with its schema and types, like %s.', v_example);
    end if;
  end if;
  perform postrider_internal.raise_column_error(tg_table_name::text, v_column, v_reason, v_hint);
  new.function := format('%s(%s)', v_call, v_takes);
  return new;
end
$$;
comment on function postrider_internal.callables_check() is
  'row trigger of callbacks and hooks: refuses other roles than the owner, and missing functions and services';

create or replace trigger callbacks_check
  before insert or update on postrider.callbacks
  for each row execute function postrider_internal.callables_check();
create or replace trigger hooks_check
  before insert or update on postrider.hooks
  for each row execute function postrider_internal.callables_check();
