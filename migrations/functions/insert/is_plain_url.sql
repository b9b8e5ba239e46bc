-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function. One regular expression for the whole URL with its host would be shorter but
-- slower. PostgreSQL would build its automaton anew in each call, which takes 70 µs in a session that has been idle.
-- The character set is all visible ASCII except the backslash.
create or replace function postrider_internal.is_plain_url(p_url text) returns boolean
language sql immutable parallel safe
as $$
  select (p_url like 'http://%' or p_url like 'https://%') and p_url !~ '[^]!-[^-~]' and octet_length(p_url) <= 8000
$$;
comment on function postrider_internal.is_plain_url(text) is
  'whether a URL, apart from its host, is valid by quick checks; if false, url_defect decides';
