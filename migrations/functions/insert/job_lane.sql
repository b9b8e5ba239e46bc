-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_lane.sql
-- Of a job: coalesce(lane, service), and its URL, whose host is written out even where the rest is a template. A batch
-- or chain has no URL and no lane, although it may have a service.
--
-- Inlined by the planner; url_lane, at some microseconds, is for URLs with a user, an upper-case host, a dot
-- at the host's end and the like.
create or replace function postrider_internal.job_lane(p_lane text, p_url text) returns text
language sql immutable parallel safe
begin atomic
  select case
    when p_url is null then null
    when p_lane is not null then p_lane
    when split_part(p_url, '/', 3) ~ '^[a-z0-9.-]*[a-z0-9-]:[1-9][0-9]*$' then split_part(p_url, '/', 3)
    when split_part(p_url, '/', 3) ~ '[^a-z0-9.-]|[.]$' then postrider_internal.url_lane(p_url)
    when lower(left(p_url, 6) collate "C") = 'https:' then split_part(p_url, '/', 3) || ':443'
    else split_part(p_url, '/', 3) || ':80'
  end;
end;
comment on function postrider_internal.job_lane(text, text) is
  'the lane a job runs in: its own, else the host:port of its URL; null without a URL';
