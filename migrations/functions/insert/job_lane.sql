-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_lane.sql
-- Parameters of a job: coalesce(lane, service), and its URL. The URL names its host literally even where the rest is a
-- template. A batch or chain has no URL and no lane, although it may have a service.
--
-- The planner inlines this function. url_lane takes some microseconds. It handles the rare cases, such as a URL with a
-- user, an upper-case host, or a dot at the end of the host.
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
  'the lane of a job: its own lane or service, otherwise the host:port of its URL; null without a URL';
