-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_plain_host(p_host text) returns boolean
language sql immutable parallel safe
as $$
  select p_host ~ '^[a-z0-9.-]+(:([1-9][0-9]{0,3}|[1-5][0-9]{4}))?$' and length(p_host) <= 253
$$;
comment on function postrider_internal.is_plain_host(text) is
  'whether the host part of a URL is a plain host or host:port; if false, url_defect decides';
