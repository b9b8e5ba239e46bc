-- SPDX-License-Identifier: Apache-2.0
-- The name is an argument and not a setting, because every client may set any setting. The right to call this function
-- decides whose name counts.
create or replace function postrider_internal.pause_lane_as(lane text, until timestamptz, p_actor text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('lane', pause_lane_as.lane is null,
    'Give the name of a lane; see select lane from postrider.lane_status.');
  if pause_lane_as.until is null or pause_lane_as.until <= clock_timestamp() then
    raise exception using errcode = 'PR001', column = 'until',
      message = format('until: %s', case when pause_lane_as.until is null then 'must not be null'
                       else 'lies in the past' end),
      hint = 'Give a future time, like now() + interval ''10 min'', or leave it out; resume_lane ends a pause.';
  end if;
  insert into postrider.lanes as n (name, paused_until, pause_reason)
  values (pause_lane_as.lane, pause_lane_as.until, format('paused by %s', p_actor))
      on conflict (name) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason;
end
$$;
comment on function postrider_internal.pause_lane_as(text, timestamptz, text) is
  'pause_lane with the name of the person or login that pauses';
