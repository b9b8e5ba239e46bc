-- SPDX-License-Identifier: Apache-2.0
-- after: clients/is_exempt_client.sql
-- planner: no-jit, no-seqscan, no-bitmapscan
-- While client_limits has rows, find_client_defect calls this once for each role among the rows of an INSERT. The
-- result is the first column that exceeds a limit. Without one, the INSERT is recorded for the leader's count.
--
-- The count comes from the leader, at most a second old, plus earlier INSERTs of this transaction. INSERTs of other
-- transactions are unknown until their commit. So sessions that insert at the same moment may exceed the limit
-- together.
--
-- Workers insert webhooks, ticks of schedules and members of an `each` for a client. Their own role is exempt, so these
-- rows are counted and not refused. The acting role is the role of SET ROLE, otherwise the login; a security definer
-- function does not change it.
--
-- Parameters: p_jobs counts requests. p_lowest and p_highest are priorities. p_is_endless: a download or upload has no
-- timeout. p_body: bytes of the largest body. p_lane_jobs: requests in each lane of p_lanes.
create or replace function postrider_internal.find_limit_defect(
  p_role text, p_jobs bigint, p_first_id bigint, p_last_id bigint, p_lowest int, p_highest int, p_timeout interval,
  p_is_endless boolean,
  p_body bigint, p_downloads boolean, p_lanes text[], p_lane_jobs bigint[],
  out column_name text, out reason text, out hint text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The arguments have the collation of p_lanes, C. The indexes by role have the default collation.
  v_role constant text collate "default" := p_role;
  v_acting constant text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  v_limits record;
  v_unfinished bigint;
  v_lanes bigint;
  v_new text[];
begin
  select l.*, u.unfinished, u.recounted, u.lanes, u.recounted_lanes, d.so_far, d.new_lanes
    into v_limits
    from (select x.* from postrider.client_limits x where x.role = any (array[v_role, '*'])
          order by x.role = '*' limit 1) l
    left join lateral (
         select x.* from postrider_internal.client_usage x where x.role = v_role order by x.version desc limit 1) u
           on true
    left join lateral (
         select x.so_far, x.new_lanes
           from postrider_internal.client_deltas x
          where x.xact = pg_current_xact_id() and x.role = v_role order by x.so_far desc limit 1) d on true;
  if not found or postrider_internal.is_exempt_client(v_role) then
    return;
  end if;
  v_unfinished := greatest(v_limits.unfinished, v_limits.recounted, 0) + coalesce(v_limits.so_far, 0) + p_jobs;
  if v_limits.max_lanes is not null then
    v_new := array(
      select l.lane
        from unnest(p_lanes) l (lane)
       where l.lane is not null
         and not exists (select from postrider_internal.client_lanes c where c.role = v_role and c.lane = l.lane)
         and not exists (
               select from postrider_internal.client_new_lanes n
                where n.xact = pg_current_xact_id() and n.role = v_role and n.lane = l.lane));
    v_lanes := greatest(v_limits.lanes, v_limits.recounted_lanes, 0) + coalesce(v_limits.new_lanes, 0)
      + cardinality(v_new);
  end if;

  -- The sentences are made only for a refusal.
  if (p_lowest < v_limits.min_priority or p_highest > v_limits.max_priority or p_timeout > v_limits.max_timeout
      or p_is_endless and v_limits.max_timeout is not null or p_body > v_limits.max_request_body
      or p_downloads and not v_limits.may_download or v_new <> '{}' and v_lanes > v_limits.max_lanes
      or p_jobs > 0 and v_unfinished > v_limits.max_unfinished)
     and (v_role = v_acting or not postrider_internal.is_exempt_client(v_acting)) then
    select d.c, d.r, d.h into column_name, reason, hint
      from (select format('client %s', v_role) as client) w
     cross join lateral (values
      (p_lowest < v_limits.min_priority,
       'priority', format('%s is below %s, the lowest of %s', p_lowest, v_limits.min_priority, w.client),
       format('Give %s or more, or ask for a lower client_limits.min_priority.', v_limits.min_priority)),
      (p_highest > v_limits.max_priority,
       'priority', format('%s is above %s, the highest of %s', p_highest, v_limits.max_priority, w.client),
       format('Give %s or less, or ask for a higher client_limits.max_priority.', v_limits.max_priority)),
      (p_is_endless and v_limits.max_timeout is not null,
       'timeout', format('a download or upload needs a timeout, because the limit of %s is %s',
                         w.client, v_limits.max_timeout),
       format('Give at most %s.', v_limits.max_timeout)),
      (p_timeout > v_limits.max_timeout,
       'timeout', format('%s is above %s, the longest of %s', p_timeout, v_limits.max_timeout, w.client),
       format('Give at most %s. Without a timeout the job has its service''s, or 60 s.', v_limits.max_timeout)),
      (p_body > v_limits.max_request_body,
       'body', format('more than %s bytes as sent, the limit of %s', v_limits.max_request_body, w.client),
       'Send a smaller body, or a file of body_parts, or ask for a higher client_limits.max_request_body.'),
      (p_downloads and not v_limits.may_download,
       'download_to', format('%s may not download to files', w.client),
       'Leave download_to out, or ask for client_limits.may_download.'),
      (v_new <> '{}' and v_lanes > v_limits.max_lanes,
       'lane', format('%s would have unfinished jobs in %s lanes, and its limit is %s', w.client, v_lanes,
                      v_limits.max_lanes),
       'Use a lane that has unfinished jobs, wait for jobs to end, or ask for a higher client_limits.max_lanes.'),
      (p_jobs > 0 and v_unfinished > v_limits.max_unfinished,
       'created_by', format('%s would have %s unfinished jobs, and its limit is %s', w.client, v_unfinished,
                            v_limits.max_unfinished),
       'Wait for jobs to end, cancel some, or ask for a higher client_limits.max_unfinished.')
    ) as d(bad, c, r, h)
     where d.bad limit 1;
    return;
  end if;

  if p_jobs > 0 then
    if v_new <> '{}' then
      insert into postrider_internal.client_new_lanes (role, lane) select v_role, n.lane from unnest(v_new) n (lane);
    end if;
    -- A row has at most 1,000 lanes, because the leader adds whole rows. Only the first row has all ids of the INSERT,
    -- so a recount finds them once.
    insert into postrider_internal.client_deltas (role, so_far, new_lanes, first_id, last_id, lanes, lane_jobs)
    select v_role, coalesce(v_limits.so_far, 0) + sum(p.jobs) over (order by p.nth),
           coalesce(v_limits.new_lanes, 0) + coalesce(cardinality(v_new), 0),
           p_first_id, case when p.nth = 0 then p_last_id else p_first_id - 1 end, p.lanes, p.lane_jobs
      from (select 0 as nth, p_jobs as jobs, case when v_limits.max_lanes is null then array[null::text]
            else p_lanes end as lanes,
                   case when v_limits.max_lanes is null then array[p_jobs] else p_lane_jobs end as lane_jobs
             where v_limits.max_lanes is null or cardinality(p_lanes) <= 1000
            union all
            select (l.number - 1) / 1000, sum(l.jobs)::bigint, array_agg(l.lane order by l.number),
                   array_agg(l.jobs order by l.number)
              from unnest(p_lanes, p_lane_jobs) with ordinality as l(lane, jobs, number)
             where v_limits.max_lanes is not null and cardinality(p_lanes) > 1000
             group by 1) p;
  end if;
end
$$;
comment on function postrider_internal.find_limit_defect(
  text, bigint, bigint, bigint, int, int, interval, boolean, bigint, boolean, text[], bigint[]) is
  'the first column in which new rows of a role exceed one of its limits; without one, records them for the leader';
