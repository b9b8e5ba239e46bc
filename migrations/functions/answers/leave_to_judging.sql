-- SPDX-License-Identifier: Apache-2.0
-- p_is_cheap_only: the session ends calls or sends heartbeats, and a slow expression would delay them. A judging
-- session then begins the step.
create or replace function postrider_internal.leave_to_judging(p_is_expensive boolean,
                                                               p_is_cheap_only boolean) returns void
language plpgsql stable
as $$
begin
  if p_is_expensive and p_is_cheap_only then
    raise exception using errcode = 'PR016', message = 'the judging session begins this step';
  end if;
end
$$;
comment on function postrider_internal.leave_to_judging(boolean, boolean) is
  'raises PR016 if work is expensive and only the judging session may do it';
