-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. It must agree with intake_buckets.
create or replace function postrider_internal.crowd_bucket(p_queue text, p_lane text, p_buckets int) returns int
language sql immutable parallel safe
as $$
  select p_buckets + case when p_buckets = 1 then 0
                          else hashtext(p_queue || E'\n' || p_lane) & (p_buckets - 1) end
$$;
comment on function postrider_internal.crowd_bucket(text, text, int) is
  'the bucket of a queue and lane, if an INSERT spreads its jobs over p_buckets lists';
