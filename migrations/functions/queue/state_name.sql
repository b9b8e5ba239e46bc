-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.state_name(p_state "char") returns text
language sql immutable strict parallel safe
begin atomic
  select case p_state
    when 's' then 'succeeded' when 'f' then 'failed' when 'c' then 'cancelled'
    when 'e' then 'expired' when 'k' then 'skipped' when 'u' then 'unknown' when 'r' then 'retried' when 'h'
      then 'handed back'
    when 'p' then 'progressed'
    when 'l' then 'progressed'
  end;
end;
comment on function postrider_internal.state_name("char") is 'the name of a state stored as one letter';
