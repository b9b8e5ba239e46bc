-- SPDX-License-Identifier: Apache-2.0
-- after: leader/duty_mode.sql
-- In the modes on and settle a slow expression would delay results or heartbeats. A judging session then begins the
-- step.
create or replace function postrider_internal.leave_to_judging(p_is_expensive boolean) returns void
language plpgsql stable
as $$
begin
  if p_is_expensive and postrider_internal.duty_mode() in ('on', 'settle') then
    raise exception using errcode = 'PR016', message = 'the judging session begins this step';
  end if;
end
$$;
comment on function postrider_internal.leave_to_judging(boolean) is
  'raises PR016 if work is expensive and only the judging session may do it';
