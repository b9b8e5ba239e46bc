-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.own_schemas() returns regnamespace[]
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array['postrider', 'postrider_internal']::regnamespace[]
$$;
comment on function postrider_internal.own_schemas() is 'the two schemas of Postrider';
