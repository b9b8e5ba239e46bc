-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_cheap_mode(p_mode postrider_internal.duty_mode) returns boolean
language sql immutable parallel safe
return p_mode in ('finish', 'settle');
comment on function postrider_internal.is_cheap_mode(postrider_internal.duty_mode) is
  'whether results or heartbeats wait for this session, so that it leaves expensive work to the judging session';
