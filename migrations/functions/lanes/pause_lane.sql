-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.pause_lane(lane text, until timestamptz default 'infinity') returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('lane', pause_lane.lane is null,
    'Give the name of a lane; see select lane from postrider.lane_status.');
  if pause_lane.until is null or pause_lane.until <= clock_timestamp() then
    raise exception using errcode = 'PR001', column = 'until',
      message = format('until: %s', case when pause_lane.until is null then 'must not be null'
                       else 'lies in the past' end),
      hint = 'Give a future time, like now() + interval ''10 min'', or leave it out; resume_lane ends a pause.';
  end if;
  insert into postrider.lanes as n (name, paused_until, pause_reason)
  values (pause_lane.lane, pause_lane.until, format('paused by %s', session_user))
      on conflict (name) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason;
end
$$;
comment on function postrider.pause_lane(text, timestamptz) is
  'stops new calls of a lane until this time (default: until resume_lane); calls in flight continue';
