-- SPDX-License-Identifier: Apache-2.0
-- A list of several lanes holds one bucket of lanes. A larger INSERT makes more buckets for each priority: 1, 16, 256,
-- 4096 or 65536. So a list has about 500 jobs.
create or replace function postrider_internal.intake_buckets(p_queue text, p_lane text) returns int[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array[1, 16 + (h & 15), 256 + (h & 255), 4096 + (h & 4095), 65536 + (h & 65535)]
    from hashtext(p_queue || E'\n' || p_lane) h
$$;
comment on function postrider_internal.intake_buckets(text, text) is
  'the buckets of intake that may hold jobs of a queue and lane, one for each possible number of buckets';
