-- SPDX-License-Identifier: Apache-2.0
-- Secrets are sealed together with the name. If the name could change, users without the right to read secrets could
-- reach them under another name.
create or replace function postrider_internal.credentials_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint
    from postrider_internal.credential_defect(new) d;
  if v_column is null and tg_op = 'UPDATE' and new.name <> old.name then
    v_column := 'name';
    v_reason := 'cannot be changed';
    v_hint := 'Insert a new credential and log in.';
  elsif v_column is null and tg_op = 'UPDATE' and new.kind <> old.kind and old.state <> 'logged_off' then
    v_column := 'kind';
    v_reason := 'cannot be changed while logged in, because the stored secrets fit only the old kind';
    v_hint := format('select postrider.log_out(%L) first, and log in again afterwards.', old.name);
  elsif v_column is null and tg_op = 'UPDATE'
        -- A trigger may do this: restore_credential_version does.
        and (new.version < old.version or new.version - old.version > 1 and pg_trigger_depth() = 1) then
    v_column := 'version';
    v_reason := 'cannot be set';
    v_hint := 'Leave it to Postrider.';
  end if;
  perform postrider_internal.raise_column_error('credentials', v_column, v_reason, v_hint);
  return new;
end
$$;
comment on function postrider_internal.credentials_check() is
  'row trigger of credentials: refuses invalid values with the name of their column';

create or replace trigger credentials_check
  before insert or update on postrider.credentials
  for each row execute function postrider_internal.credentials_check();
