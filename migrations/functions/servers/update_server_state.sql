-- SPDX-License-Identifier: Apache-2.0
-- Decides when a server is set aside, without reading a clock or a table. It checks two sums of calls against the rule:
-- the current window, and the current window with the one before. So a long good past hides no failure, and a service
-- with few calls is checked too. A window takes 10 s and min_calls, at most 5 min.
create or replace function postrider_internal.update_server_state(
  p_server postrider.servers, p_service postrider.services, p_calls bigint, p_errors bigint, p_now timestamptz)
returns postrider.servers
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_age interval := p_now - p_server.window_began;
begin
  if p_server.state <> 'active' then
    return p_server;
  end if;
  if v_age >= interval '10 min' then
    p_server.calls := 0;
    p_server.errors := 0;
  end if;
  if v_age >= interval '5 min' or v_age >= interval '10 s' and p_server.recent_calls >= p_service.min_calls then
    if v_age < interval '10 min' then
      p_server.calls := p_server.recent_calls;
      p_server.errors := p_server.recent_errors;
    end if;
    p_server.recent_calls := 0;
    p_server.recent_errors := 0;
    p_server.window_began := p_now;
  end if;
  p_server.recent_calls := p_server.recent_calls + p_calls;
  p_server.recent_errors := p_server.recent_errors + p_errors;
  p_server.calls := p_server.calls + p_calls;
  p_server.errors := p_server.errors + p_errors;
  if p_server.recent_calls >= p_service.min_calls
    and p_server.recent_errors >= p_service.error_rate * p_server.recent_calls
     or p_server.calls >= p_service.min_calls and p_server.errors >= p_service.error_rate * p_server.calls then
    p_server.state := 'aside';
    p_server.open_until := p_now + p_service.cool_down;
  end if;
  return p_server;
end
$$;
comment on function postrider_internal.update_server_state(postrider.servers, postrider.services, bigint, bigint,
                                                           timestamptz) is
  'the row of a server after these further calls and errors, with its counters and its state';
