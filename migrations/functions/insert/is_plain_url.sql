-- SPDX-License-Identifier: Apache-2.0
-- Inlined by the planner. One expression for the whole URL, host and all, would be shorter and is dearer: its automaton
-- is built anew in each call, at 70 us in a session that has been idle. The set is all of ASCII that one can see, but
-- the backslash.
create or replace function postrider_internal.is_plain_url(p_url text) returns boolean
language sql immutable parallel safe
as $$
  select (p_url like 'http://%' or p_url like 'https://%') and p_url !~ '[^]!-[^-~]' and octet_length(p_url) <= 8000
$$;
comment on function postrider_internal.is_plain_url(text) is
  'whether all but the host of a URL is good at first sight; false says nothing, url_defect decides';
