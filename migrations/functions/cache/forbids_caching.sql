-- SPDX-License-Identifier: Apache-2.0
-- A part of an answer (206) is no answer to the next job, a 304 has no body, and a cookie belongs to one user.
--
-- The planner inlines this function.
create or replace function postrider_internal.forbids_caching(p_status int, p_headers bytea) returns boolean
language sql stable parallel safe
begin atomic
  select p_status in (206, 304) or convert_from(p_headers, 'LATIN1') ~ E'(^|\\n)set-cookie:';
end;
comment on function postrider_internal.forbids_caching(int, bytea) is
  'whether an answer is never cached, in any cache mode';
