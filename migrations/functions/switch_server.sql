-- SPDX-License-Identifier: Apache-2.0
-- A person's word: the server is used at once, even if it was set aside, and until the next switch the order begins with
-- it. It is judged like any other from then on.
--
-- Without a position each environment goes on from the server that its calls use now: the first of its order that is not aside.
drop function if exists postrider.switch_server(text, int, text);
create or replace function postrider.switch_server(service text, "position" int default null, environment text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from postrider.servers s
   where s.service = switch_server.service and (switch_server.position is null or s.position = switch_server.position)
     and (switch_server.environment is null or s.environment = switch_server.environment);
  if not found then
    raise exception using errcode = 'PR014',
      message = format('service %s has no server%s%s', quote_nullable(switch_server.service),
        ' at position ' || switch_server.position, ' in environment ' || switch_server.environment),
      hint = 'See select service, environment, position from postrider.servers.';
  end if;
  -- In the order of their locks.
  perform from postrider.servers s
   where s.service = switch_server.service order by s.id for no key update;
  with ordered as (
    select s.environment, s.position, s.state,
           row_number() over (partition by s.environment order by not s.position >= p.first, s.position) - 1 as place,
           count(*) over (partition by s.environment) as servers
      from postrider.servers s
     cross join lateral (
           select coalesce(min(o.position) filter (where o.is_preferred), min(o.position)) as first
             from postrider.servers o where o.service = s.service and o.environment = s.environment) p
     where s.service = switch_server.service and (switch_server.environment is null or s.environment = switch_server.environment)),
  wanted as (
    select o.environment, o.position
      from ordered o
     cross join lateral (
           select coalesce(min(u.place) filter (where u.state = 'active'), 0) as used
             from ordered u where u.environment = o.environment) u
     where case when switch_server.position is null then o.place = (u.used + 1) % o.servers else o.position = switch_server.position end)
  update postrider.servers s
     set is_preferred = s.position = w.position,
         state = case when s.position = w.position then 'active' else s.state end
    from wanted w
   where s.service = switch_server.service and s.environment = w.environment and (s.is_preferred or s.position = w.position);
end
$$;
comment on function postrider.switch_server(text, int, text) is
  'public: makes all workers use this server of a service from their next call on, without a position the next one, around the end; in one environment, or in each that has such a position';
