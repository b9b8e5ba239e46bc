-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. intake_buckets has all possible buckets of a lane.
create or replace function postrider_internal.crowd_buckets(p_jobs numeric) returns int
language sql immutable parallel safe
as $$
  select case when p_jobs <= 512 then 1
              when p_jobs <= 16 * 512 then 16
              when p_jobs <= 256 * 512 then 256
              when p_jobs <= 4096 * 512 then 4096
              else 65536 end
$$;
comment on function postrider_internal.crowd_buckets(numeric) is
  'how many lists of several lanes jobs of one priority are spread over, so that a list has about 500 jobs';
