-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.job_url(p_url text, p_use_cdn boolean,
                                                      p_service postrider.services) returns text
language sql immutable parallel safe
as $$
  select postrider_internal.url_join(
    case when p_use_cdn then coalesce(p_service.cdn_url, p_service.base_url) else p_service.base_url end, p_url)
$$;
comment on function postrider_internal.job_url(text, boolean, postrider.services) is
  'the URL of a job''s call; still relative if its service has no base';
