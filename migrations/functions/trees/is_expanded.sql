-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_expanded(p_parent bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive above (id, each, depth) as (
    select j.id, j.each, 1 from postrider.jobs j where j.id = p_parent
    union all
    select j.id, j.each, a.depth + 1
      from above a
     cross join lateral (
           select x.id, x.each from postrider.jobs x
            where x.id = (select y.parent_id from postrider.jobs y where y.id = a.id) offset 0) j
     where a.each is null and a.depth < 32
  )
  select exists (select from above a where a.each is not null)
$$;
comment on function postrider_internal.is_expanded(bigint) is
  'whether a job is a batch over a list or below one, so that expand may insert its members';
