-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.status_bounds(p_statuses int4multirange) returns int[]
language sql immutable parallel safe
as $$
  select case when p_statuses is not null then
    (select array_agg(bound order by lower(s), bound)
       from unnest(p_statuses) s cross join lateral (values (lower(s)), (upper(s))) as b(bound)) end
$$;
comment on function postrider.status_bounds(int4multirange) is
  'private: lower, upper, lower, ... of ok_statuses, upper exclusive; null for the default; inlined';
