-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Runs once for each INSERT into jobs, with any number of rows. It refuses bad rows and fills ready and scheduled.
--
-- An inserting transaction never writes into tracks, because other transactions that need the same new track would wait
-- for its commit. Rows whose track does not exist yet go to track 0, and the leader moves them within milliseconds.
--
-- A large INSERT does not fill ready itself. It writes lists of ids into intake, and the leader feeds them. While such
-- lists wait, a row queues behind them only if its own track has rows there, so the order holds. The rows of a
-- statement arrive in the order of their ids.
--
-- If a statement names more than 256 lanes with fewer than 1000 rows each, these lanes share lists. Otherwise ready
-- would have more tracks than workers can visit (see feed_crowd).
--
-- The steps:
-- 1. One plain row goes to ready in one statement.
-- 2. Limits of clients.
-- 3. A large INSERT whose rows are alike goes to intake.
-- 4. The rules for each row. Batches, chains and members get tree rows.
-- 5. Later rows go to scheduled.
-- 6. Rows behind lists of their track go to intake.
-- 7. A large INSERT with long lanes goes to intake.
-- 8. The other rows: more than 256 go to intake and ready by lane, fewer go to ready.
-- 9. Idle workers are notified. Up to eight known tracks are named, so that workers look for nothing else.
--
-- Only this function sees the new rows, so the statements over them stand here. Functions that PostgreSQL inlines name
-- their conditions.
--
-- Other cuts cost too much (PostgreSQL 15, 2 cores, parts of the whole INSERT):
--
-- - A second statement trigger that only checks for a 257th row takes 11 µs, 11 % of a single row.
-- - A function that reads the rows of step 8 from jobs by their ids takes 1.4 µs a row, 20 %.
-- - A function that gets their columns as arrays takes 1.2 µs a row, 15 %.
-- - A function over arrays for step 6 takes 18 µs, 7 % of a single row behind a list.
create or replace function postrider_internal.queue_new_jobs() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows bigint;                           -- all rows, and after the checks only requests
  v_doubtful bigint;                       -- rows that the quick checks do not accept
  v_later bigint;                          -- rows with run_at in the future
  v_special bigint;                        -- rows with expires_at or callbacks
  v_tree_jobs bigint[];                    -- batches, chains and members
  v_later_tree_jobs bigint;
  v_bad bigint;                            -- id of the refused row
  v_code text;
  v_column text;
  v_message text;
  v_hint text;
  v_is_large boolean;                      -- at least 10,000 rows
  v_has_idle_worker boolean;               -- an idle worker waits for a notification
  v_has_intake boolean;                    -- lists wait in intake
  v_has_limits boolean;
  v_payload text;                          -- of the notification
  v_is_listed boolean := false;            -- rows went to lists of intake
  v_behind bigint[] := '{}';               -- rows that queue behind lists of their track
  v_settings text[];                       -- former planner settings
  v_span bigint;                           -- range of ids for one list
  v_base bigint;                           -- first id of the first list
begin
  if current_setting('postrider.identified', true) is distinct
    from ('postrider_internal.workers'::regclass::oid)::text then
    perform postrider_internal.record_early_insert((select min(n.id) from new_rows n));
  end if;
  -- 1. The most frequent INSERT by far: one due row with common columns, on a track that exists. A statement costs at
  -- least 10 µs before it does any work, and three times that in a session that has been idle. So one statement
  -- handles this row completely or not at all.
  --
  -- If the lane of a track is a plain host and port, the host of a URL in that track is valid.
  --
  -- The notification names the track, so that the claim reads only that track. It also names the job, because
  -- PostgreSQL drops equal notifications of one transaction.
  insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once, expires_at)
  select n.id, n.id, t.id, n.max_attempts, n.delivery = 'at_most_once', n.expires_at from new_rows n
   cross join lateral ( select t.id, t.lane
           from postrider_internal.tracks t
          where t.queue = n.queue and t.priority = n.priority and t.is_plain
            and not t.made_at between clock_timestamp() - interval '1 s' and clock_timestamp() + interval '1 min'
            and t.lane = case when split_part(n.url, '/', 3) like '%:%' then split_part(n.url, '/', 3)
                              when n.url like 'https%' then split_part(n.url, '/', 3) || ':443'
                              else split_part(n.url, '/', 3) || ':80' end limit 1) t
   where not exists (select from new_rows offset 1)
     and case when postrider_internal.is_plain_job(row(n.*)::postrider.jobs) and postrider_internal.is_plain_url(n.url)
                   and n.run_at <= now() and n.lane is null and n.service is null
                   and case when (select exists (select from postrider_internal.intake))
                            then not postrider_internal.is_in_intake(n.queue, t.lane, n.priority) else true end
              then case when (select exists (select from postrider.client_limits))
                        then postrider_internal.admit_single_row(n.created_by, n.id, n.priority, n.body, n.body_json,
                                                                 t.lane) else true end
                   and ((select g.last_value = 1 from postrider_internal.idle_gate g)
                        or pg_notify('postrider', case when n.response_format = 'raw' then t.id || ' ' || n.id
                                     else 'ready ' || t.id || ':' || n.id end) is not null) end;
  if found then
    return null;
  end if;

  select g.last_value = 2, exists (select from postrider_internal.intake), exists (select from new_rows offset 9999),
         exists (select from postrider.client_limits)
    into v_has_idle_worker, v_has_intake, v_is_large, v_has_limits
    from postrider_internal.idle_gate g;

  -- 2. Limits of clients. Lanes, timeouts and sizes are computed only if some client has a limit for them.
  if v_has_limits then
    with wanted as materialized (
      select bool_or(l.max_lanes is not null) as lanes, bool_or(l.max_timeout is not null) as timeouts,
             max(l.max_request_body) as most_bytes
        from postrider.client_limits l),
    grouped as (
      select n.created_by, case when (select w.lanes from wanted w) then coalesce(n.lane, n.service) end as lane,
             case when (select w.lanes from wanted w) then split_part(n.url, '/', 1) end collate "C" as scheme,
             case when (select w.lanes from wanted w) then split_part(n.url, '/', 3) end collate "C" as host,
             count(*) filter (where n.kind = 'request'), min(n.id), max(n.id), min(n.priority)::int,
             max(n.priority)::int,
             max(case when (select w.timeouts from wanted w) and n.kind = 'request'
                   then coalesce(n.timeout, (select s.timeout from postrider.services s where s.name = n.service),
                                 '60 s') end),
             bool_or((select w.timeouts from wanted w) and n.timeout is null
                     and (n.download_to is not null or n.body_parts @? '$[*].file')),
             max(case when n.body is not null then octet_length(n.body)
                      when num_nonnulls(n.body_json, n.body_form, n.body_parts) > 0
                        then postrider_internal.body_bytes(row(n.*)::postrider.jobs,
                                                           (select w.most_bytes from wanted w)) end),
             bool_or(n.download_to is not null)
        from new_rows n group by 1, 2, 3, 4)
    select d.column_name, d.reason, d.hint into v_column, v_message, v_hint
      from (select array_agg(row(g.*)::postrider_internal.client_jobs) as groups from grouped g offset 0) a
     cross join lateral postrider_internal.find_client_defect(a.groups) d;
    if v_column is not null then
      raise exception using errcode = 'PR015', schema = 'postrider', table = 'jobs', column = v_column,
        message = format('jobs.%s: %s', v_column, v_message), hint = v_hint;
    end if;
  end if;

  -- 3. A large INSERT whose rows are alike. Most large INSERTs hold rows that differ only in URL and body, or rows of
  -- one operation. Comparing each row with a valid first row is cheaper than checking each (0.42 instead of 0.57 µs),
  -- most of all if the URL is the same. The first thousand rows show whether it is worth trying.
  if v_is_large then
    declare
      v_job postrider.jobs;
      v_pattern text;
      v_alike boolean;
      v_first bigint;
      v_last bigint;
    begin
      select n.* into v_job from new_rows n limit 1;
      v_pattern := postrider_internal.url_pattern(v_job.url);
      v_settings := postrider_internal.use_list_settings(true);
      select bool_and(case when v_job.operation is not null
                           then postrider_internal.is_like_first(row(n.*)::postrider.jobs, v_job, v_pattern)
                           else n.url like v_pattern and n.run_at <= now() and n.priority = v_job.priority
                            and postrider_internal.is_plain_job(row(n.*)::postrider.jobs) end)
        into v_alike from (select r.* from new_rows r limit 1000) n;
      if v_alike then
        -- Computed below the aggregate. Inside the aggregate, a scan of new_rows would pass on each column that is
        -- named, 50 of them.
        select min(n.id), max(n.id), count(*), bool_and(n.is_alike) into v_first, v_last, v_rows, v_alike
          from (select n.id,
                       postrider_internal.is_like_first(row(n.*)::postrider.jobs, v_job, v_pattern) as is_alike
                  from new_rows n offset 0) n;
      end if;
      if v_alike then
        -- If no other session inserts, the ids have no gaps and need not be collected, which saves 0.5 µs a row.
        insert into postrider_internal.intake (queue, lane, priority, max_attempts, at_most_once, first_id, last_id,
                                               ids)
        select v_job.queue, postrider_internal.job_lane(v_job.service, v_job.url), v_job.priority, v_job.max_attempts,
               v_job.delivery = 'at_most_once', l.first, l.last, l.ids
          from (select s.id as first, least(s.id + 999, v_last) as last, null::bigint[] as ids
                  from generate_series(v_first, v_last, 1000) s (id)
                 where v_last - v_first = v_rows - 1
                 union all
                select min(n.id), max(n.id), array_agg(n.id) from new_rows n
                 where v_last - v_first <> v_rows - 1 group by n.id / 1000) l;
      end if;
      perform postrider_internal.restore_list_settings(v_settings);
      if v_alike then
        perform pg_notify('postrider', '') where v_has_idle_worker;
        return null;
      end if;
    end;
  end if;

  -- 4. The rules for each row.
  select count(*), count(*) filter (where n.is_special), count(*) filter (where n.is_later),
         count(*) filter (where n.is_regular is not true)
    into v_rows, v_special, v_later, v_doubtful
    from (select n.expires_at is not null or postrider_internal.has_callbacks(row(n.*)::postrider.jobs) as is_special,
                 n.run_at > now() as is_later,
                 postrider_internal.is_plain_job(row(n.*)::postrider.jobs) and postrider_internal.is_plain_url(n.url)
                 and postrider_internal.is_plain_host(split_part(n.url, '/', 3)) as is_regular
            from new_rows n offset 0) n;
  if v_doubtful > 0 then
    declare
      v_job postrider.jobs;
      v_most bigint := (select s.max_request_body from postrider.settings s);
    begin
      for v_job in
        select n.* from new_rows n left join postrider.services s on s.name = n.service
         where postrider_internal.may_break_rules(row(n.*)::postrider.jobs, s, v_most)
            or n.on_success is not null and not exists (select from postrider.callbacks c where c.name = n.on_success)
            or n.on_failure is not null and not exists (select from postrider.callbacks c where c.name = n.on_failure)
      loop
        select 'PR001', d.column_name, format('jobs.%s: %s', d.column_name, d.reason), d.hint, v_job.id
          into v_code, v_column, v_message, v_hint, v_bad
          from postrider_internal.job_defect(v_job) d where d.column_name is not null;
        exit when found;
      end loop;
    end;
    select array_agg(n.id order by n.id), count(*) filter (where n.run_at > now()) into v_tree_jobs, v_later_tree_jobs
      from new_rows n where n.parent_id is not null or n.kind <> 'request';
    if v_tree_jobs is not null and v_code is null then
      -- A batch over thousands of elements may make a batch for each. All of them have the same each, so it is checked
      -- once.
      select 'PR001', 'each', 'jobs.each: ' || d.reason, d.hint, e.id into v_code, v_column, v_message, v_hint, v_bad
        from (select n.each, postrider_internal.member_defaults(row(n.*)::postrider.jobs) as defaults, min(n.id) as id
                from new_rows n where n.each is not null group by 1, 2) e
       cross join lateral postrider_internal.job_each_defect(e.each, e.defaults) d
       where d.reason is not null limit 1;
    end if;
    if v_tree_jobs is not null and v_code is null then
      select t.* into v_code, v_column, v_message, v_hint, v_bad
        from (select array_agg(m.parent_id) as parents, array_agg(m.created_by) as creators, array_agg(m.id) as members
                from (select n.parent_id, n.created_by, min(n.id) as id from new_rows n where n.parent_id is not null
                       group by 1, 2) m) p
       cross join lateral postrider_internal.queue_tree_jobs(v_tree_jobs, p.parents, p.creators, p.members) t;
      v_rows := v_rows - cardinality(v_tree_jobs);
      v_later := v_later - v_later_tree_jobs;
    end if;
    -- Raised here, so that the user sees one line of CONTEXT, not one for each function that checked the row.
    if v_code is not null and v_bad is not null and exists (select from new_rows offset 1) then
      raise exception using errcode = v_code, schema = 'postrider', table = 'jobs', column = v_column,
        message = v_message, hint = v_hint,
        detail = (select postrider_internal.describe_row(count(*), max(n.url) filter (where n.id = v_bad))
                  from new_rows n where n.id <= v_bad);
    elsif v_code is not null then
      raise exception using errcode = v_code, schema = 'postrider', table = 'jobs', column = v_column,
        message = v_message, hint = v_hint;
    end if;
  end if;

  -- 5. Later rows.
  if v_later > 0 then
    insert into postrider_internal.scheduled (run_at, job_id, track, max_attempts, at_most_once, expires_at,
                                              has_callbacks)
    select n.run_at, n.id, coalesce(t.id, 0), n.max_attempts, n.delivery = 'at_most_once', n.expires_at,
           postrider_internal.has_callbacks(row(n.*)::postrider.jobs)
      from new_rows n
     cross join lateral (
           select postrider_internal.job_lane(coalesce(n.lane, n.service), n.url) as lane offset 0) k
      left join lateral postrider_internal.known_track(n.queue, k.lane, n.priority, false) t (id) on true
     where n.run_at > now() and n.parent_id is null and n.kind = 'request';
  end if;
  if v_rows = v_later then
    return null;
  end if;

  -- 6. Rows behind lists of their track.
  if v_has_intake and v_rows <= 256 then
    v_behind := array(
      select n.id from new_rows n
       where postrider_internal.is_due_request(row(n.*)::postrider.jobs)
         and postrider_internal.is_in_intake(n.queue, postrider_internal.job_lane(coalesce(n.lane, n.service), n.url),
                                             n.priority));
    insert into postrider_internal.intake (queue, lane, priority, first_id, last_id, ids)
    select n.queue, postrider_internal.job_lane(coalesce(n.lane, n.service), n.url), n.priority, min(n.id), max(n.id),
           array_agg(n.id order by n.id)
      from new_rows n
     where v_behind <> '{}' and n.id = any (v_behind)
     group by 1, 2, 3;
  end if;

  -- 7. A large INSERT with long lanes. If each lane has 1000 rows, all rows go to lists of one lane, which one pass
  -- makes (saves 1.6 µs a row). The first 1000 rows show it.
  if v_special = 0 and v_rows - v_later >= 10000 then
    select count(*) * 1000 <= v_rows - v_later, least(64000, 1000 * round(1000.0 / max(l.jobs))), min(l.first)
      into v_is_listed, v_span, v_base
      from (select count(*) as jobs, min(n.id) as first from (select r.* from new_rows r limit 1000) n
             group by n.queue, n.priority, postrider_internal.job_lane(coalesce(n.lane, n.service), n.url)) l;
    if v_is_listed then
      v_settings := postrider_internal.use_list_settings(false);
      with parts as materialized (
        select n.queue, postrider_internal.job_lane(coalesce(n.lane, n.service), n.url) as lane, n.priority,
               n.max_attempts, n.delivery = 'at_most_once' as at_most_once, min(n.id) as first, max(n.id) as last,
               array_agg(n.id) as ids
          from new_rows n where postrider_internal.is_due_request(row(n.*)::postrider.jobs)
         group by 1, 2, 3, 4, 5, (n.id - v_base) / v_span),
      checked as materialized (
        select bool_and(l.jobs >= 1000 and l.kinds = 1) as is_listed
          from (select sum(cardinality(p.ids)) as jobs, count(distinct (p.max_attempts, p.at_most_once)) as kinds
                  from parts p group by p.queue, p.lane, p.priority) l),
      lists as (
        insert into postrider_internal.intake (queue, lane, priority, max_attempts, at_most_once, first_id, last_id,
                                               ids)
        select p.* from parts p where (select c.is_listed from checked c))
      select c.is_listed into v_is_listed from checked c;
      perform postrider_internal.restore_list_settings(v_settings);
    end if;
    if v_is_listed then
      perform pg_notify('postrider', '') where v_has_idle_worker;
      return null;
    end if;
  end if;

  -- 8. The other rows.
  if v_rows - v_later > 256 then
    v_settings := postrider_internal.use_list_settings(false);
    with due as materialized (
      select n.id, n.queue, k.lane, n.priority, n.max_attempts, n.delivery = 'at_most_once' as at_most_once,
             n.expires_at, postrider_internal.has_callbacks(row(n.*)::postrider.jobs) as has_callbacks
        from new_rows n
       cross join lateral (
             select postrider_internal.job_lane(coalesce(n.lane, n.service), n.url) as lane offset 0) k
       where postrider_internal.is_due_request(row(n.*)::postrider.jobs)),
    laned as materialized (
      select d.queue, d.lane, d.priority, count(*) as jobs, min(d.id) as first,
             greatest(1000, (max(d.id) - min(d.id) + 1) * 1000 / count(*)) as span,
             case when v_has_intake then (d.queue, d.lane, d.priority) in (
                    select i.queue, i.lane, i.priority from postrider_internal.intake i where i.lane is not null)
                  else false end as is_behind,
             case when v_has_intake then (d.queue, d.lane, d.priority) in (
                    select coalesce(i.queue, u.queue), u.lane, i.priority
                      from postrider_internal.intake i cross join lateral unnest(i.queues, i.lanes) u (queue, lane)
                     where i.lane is null) else false end as is_behind_crowd
        from due d group by 1, 2, 3),
    sizes as materialized (
      select sum(x.jobs) >= 10000 as is_large, count(*) filter (where x.jobs < 1000) > 256 as has_many_lanes
        from laned x),
    routed as materialized (
      select l.*, postrider_internal.lane_destination(l.jobs, l.is_behind, l.is_behind_crowd, s.is_large,
                                                      s.has_many_lanes) as destination
        from laned l cross join sizes s),
    listed as materialized (select r.* from routed r where r.destination = 'list'),
    crowds as materialized (
      select r.priority, postrider_internal.crowd_buckets(sum(r.jobs)) as buckets
        from routed r where r.destination = 'crowd' group by 1),
    -- Within a group array_agg keeps the order of due. A join may change the order, so ids are sorted after it.
    lists as (
      insert into postrider_internal.intake (queue, lane, priority, max_attempts, at_most_once, first_id, last_id, ids)
      select g.queue, g.lane, g.priority, g.max_attempts, g.at_most_once, g.first, g.last,
             array(select u.id from unnest(g.ids) u (id) order by u.id)
        from (select r.queue, r.lane, r.priority, (d.id - r.first) / r.span as part, min(d.id) as first,
                     max(d.id) as last, array_agg(d.id) as ids, bool_and(d.at_most_once) as at_most_once,
                     case when min(d.max_attempts) = max(d.max_attempts)
                            and bool_and(d.at_most_once) = bool_or(d.at_most_once)
                            and bool_and(d.expires_at is null and not d.has_callbacks)
                          then min(d.max_attempts) end as max_attempts
                from due d join listed r on r.queue = d.queue and r.lane = d.lane and r.priority = d.priority
               group by 1, 2, 3, 4) g
      returning 1),
    crowd_lists as (
      insert into postrider_internal.intake (queue, priority, first_id, last_id, ids, queues, lanes, bucket, is_behind)
      select case when g.least = g.most then g.least end, g.priority, g.ids[1], g.ids[cardinality(g.ids)], g.ids,
             case when g.least <> g.most then g.queues end, g.lanes, g.bucket,
             (select bool_or(r.is_behind_crowd) from routed r where r.destination = 'crowd')
        from (select d.priority, min(d.queue) as least, max(d.queue) as most, array_agg(d.id) as ids,
                     array_agg(d.queue) as queues, array_agg(d.lane) as lanes,
                     postrider_internal.crowd_bucket(d.queue, d.lane, c.buckets) as bucket
                from (select x.* from due x
                       where case when (x.queue, x.lane, x.priority) in (
                                    select r.queue, r.lane, r.priority from routed r where r.destination = 'crowd')
                                  then true end) d
               cross join lateral (select x.buckets from crowds x where x.priority = d.priority offset 0) c
               group by d.priority, c.buckets, bucket) g
      returning 1),
    placed as (
      insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once, expires_at, has_callbacks)
      select d.id, d.id, coalesce(t.id, 0), d.max_attempts, d.at_most_once, d.expires_at, d.has_callbacks
        from due d
        left join lateral postrider_internal.known_track(d.queue, d.lane, d.priority, true) t (id) on true
       where case when (d.queue, d.lane, d.priority) in (
                    select r.queue, r.lane, r.priority from routed r where r.destination = 'ready') then true end
      returning track)
    select case when exists (select from placed p where p.track = 0) or exists (select from crowd_lists)
                  and not v_is_large then 'tracks' end into v_payload from (select count(*) from lists) l;
    perform postrider_internal.restore_list_settings(v_settings);
  else
    with fed as (
      insert into postrider_internal.ready (seq, job_id, track, max_attempts, at_most_once, expires_at, has_callbacks)
      select n.id, n.id, coalesce(t.id, 0), n.max_attempts, n.delivery = 'at_most_once', n.expires_at,
             postrider_internal.has_callbacks(row(n.*)::postrider.jobs)
        from new_rows n
       cross join lateral (
             select postrider_internal.job_lane(coalesce(n.lane, n.service), n.url) as lane offset 0) k
        left join lateral postrider_internal.known_track(n.queue, k.lane, n.priority, true) t (id) on true
       where postrider_internal.is_due_request(row(n.*)::postrider.jobs) and n.id <> all (v_behind)
      returning track, seq)
    select case when min(f.track) = 0 then 'tracks'
                when v_tree_jobs is null and v_later = 0 and v_behind = '{}' and count(*) <= 8
                  then 'ready ' || string_agg(f.track || ':' || f.first, ' ') end
      into v_payload from (select d.track, min(d.seq) as first from fed d group by 1) f;
  end if;

  -- 9. Idle workers.
  perform pg_notify('postrider', coalesce(v_payload, '')) where v_has_idle_worker;
  return null;
end
$$;
comment on function postrider_internal.queue_new_jobs() is
  'statement trigger of jobs: refuses bad rows, queues the others and notifies idle workers';

create or replace trigger jobs_feed
  after insert on postrider.jobs
  referencing new table as new_rows
  for each statement execute function postrider_internal.queue_new_jobs();
