-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.lanes_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  -- If a user sets only the time, this is a new pause, and the old reason does not apply.
  if tg_op = 'UPDATE' and new.paused_until is distinct from old.paused_until
     and new.pause_reason is not distinct from old.pause_reason then
    new.pause_reason := null;
  end if;
  if new.paused_until is null then
    new.pause_reason := null;
  elsif new.pause_reason is null then
    new.pause_reason := format('paused by %s', session_user);
  end if;
  select d.c, d.r, d.h into v_column, v_reason, v_hint from (values
    (new.name is null or new.name = '' or length(new.name) > 300,
     'name', 'must have 1 to 300 characters',
     'The lane of jobs: jobs.lane, otherwise the service''s name, otherwise host:port of the URL.'),
    (new.max_in_flight not between 1 and 1000000,
     'max_in_flight', 'is out of range',
     'Give 1 to 1000000, or null for no limit; select postrider.pause_lane(…) stops all new calls.'),
    (new.rate_limit not between 1 and 1000000,
     'rate_limit', 'is out of range', 'Give 1 to 1000000 calls for each rate_period, or null for no limit.'),
    (new.rate_period is null or new.rate_period < interval '10 ms' or new.rate_period > interval '31 days',
     'rate_period', 'must be 10 ms to 31 days', 'Like ''1 s'' or ''1 min''.'),
    (new.rate_limit > extract(epoch from new.rate_period) * 10000,
     'rate_limit', 'is more than 10000 calls a second', 'Give a lower limit, or null for no limit.'),
    ((new.retry_budget >= 0.0001 and new.retry_budget <= 1) is not true,
     'retry_budget', 'must be 0.0001 to 1',
     'Like 0.2: while most calls fail, one of five is a retry; 1 for no budget.'),
    (new.pause_reason is not null and length(new.pause_reason) > 1000,
     'pause_reason', 'is longer than 1000 characters', 'Give a shorter reason.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  perform postrider_internal.raise_column_error('lanes', v_column, v_reason, v_hint);
  return new;
end
$$;
comment on function postrider_internal.lanes_check() is
  'row trigger of lanes: refuses invalid values with the name of their column';

create or replace trigger lanes_check
  before insert or update on postrider.lanes
  for each row execute function postrider_internal.lanes_check();
