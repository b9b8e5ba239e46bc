-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.queues_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
begin
  v_column := case when new.name is null or new.name = '' or length(new.name) > 200 then 'name'
                   when new.paused is null then 'paused' end;
  perform postrider_internal.raise_column_error('queues', v_column,
    case v_column when 'name' then 'must have 1 to 200 characters' else 'must not be null' end,
    case v_column when 'name' then 'Give the name that jobs.queue contains.' else 'Give true or false.' end);
  return new;
end
$$;
comment on function postrider_internal.queues_check() is
  'row trigger of queues: refuses invalid values with the name of their column';

create or replace trigger queues_check
  before insert or update on postrider.queues
  for each row execute function postrider_internal.queues_check();
