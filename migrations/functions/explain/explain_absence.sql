-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.explain_absence(p_queue text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when bool_or(w.is_alive and w.takes) then null
              else format('no worker takes queue %s now: %s', p_queue,
                coalesce(
                  (array_agg(w.name || ' has sent no heartbeat since '
                               || to_char(w.heartbeat_at, 'YYYY-MM-DD HH24:MI:SS TZ')
                             order by w.heartbeat_at desc) filter (where w.takes))[1]
                      || '; restart it, or start another worker',
                  case when bool_or(w.is_alive) then 'start one with worker --queue ' || p_queue
                       else 'none is running, start one with worker' end)) end
    from (select w.name, w.heartbeat_at, w.heartbeat_at >= clock_timestamp() - interval '10 s' as is_alive,
                 w.queues is null or p_queue = any (w.queues) as takes
            from postrider_internal.workers w where w.ended_at is null and not w.draining) w
$$;
comment on function postrider_internal.explain_absence(text) is
  'the part of explain that says that no living worker takes a queue; null if one does';
