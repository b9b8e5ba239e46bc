-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function (no query, no set), because it runs for each job of a service. Without a service
-- nothing applies.
--
-- p_url: the URL of the job with its templates filled.
create or replace function postrider_internal.service_applies(p_url text, p_service postrider.services) returns boolean
language sql stable
as $$
  select p_service.apply_to_absolute is not false
      or postrider_internal.url_is_relative(p_url)
      or postrider_internal.service_has_origin(p_service.name, p_service.base_url, p_service.cdn_url, p_url)
$$;
comment on function postrider_internal.service_applies(text, postrider.services) is
  'whether a call to this URL, relative or absolute, gets the headers, query and cookies of its service';
