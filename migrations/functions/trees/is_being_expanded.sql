-- SPDX-License-Identifier: Apache-2.0
-- The services, credentials, callbacks, bodies and times of such members were checked when their batch was inserted.
create or replace function postrider_internal.is_being_expanded(p_parent bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from postrider_internal.exempt_inserts)
     and exists (
           with recursive above (id, depth) as (
             select p_parent, 1
             union all
             select (select j.parent_id from postrider.jobs j where j.id = a.id), a.depth + 1
               from above a
              where a.id is not null and a.depth < 32
           )
           select from above a join postrider_internal.exempt_inserts e on e.batch_id = a.id)
$$;
comment on function postrider_internal.is_being_expanded(bigint) is
  'whether expand is inserting members below this batch or chain in this transaction';
