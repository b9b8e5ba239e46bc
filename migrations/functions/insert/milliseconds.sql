-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.milliseconds(p_interval interval) returns int
language sql immutable parallel safe
as $$
  select case when p_interval is not null then greatest(1, (extract(epoch from p_interval) * 1000)::int) end
$$;
comment on function postrider_internal.milliseconds(interval) is 'an interval in whole milliseconds, at least one';
