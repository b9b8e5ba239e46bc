-- SPDX-License-Identifier: Apache-2.0
-- Runs once for each INSERT into jobs, whatever its number of rows: refuses bad rows, feeds ready and scheduled.
--
-- An inserting transaction never writes into tracks: others that need the same new track would wait for its
-- commit. Rows whose track does not exist yet go to track 0, and the leader moves them within milliseconds.
--
-- A large INSERT does not feed ready itself: it leaves lists of ids in intake, and the leader feeds them in.
-- While such lists wait, every INSERT queues up behind them, so order holds. The rows of a statement come in the order
-- in which their ids were given.
create or replace function postrider.jobs_feed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set work_mem = '128MB'
as $$
declare
  -- The rows that decide which way to go; afterwards, or with fewer rows, all of them.
  v_limit int := 10000;
  v_rows bigint;
  v_doubtful bigint;
  v_later bigint;
  v_expiring bigint;
  v_is_heard boolean;
  v_is_queued boolean;
begin
  loop
    -- One statement for all that must be known: for a single row each further one would cost 10 us and more.
    select count(*), count(n.expires_at), count(*) filter (where n.run_at > now()),
           count(*) filter (where (postrider.job_is_regular(row(n.*)::postrider.jobs)
                                   and postrider.host_is_plain(split_part(n.url, '/', 3))) is not true),
           (select g.last_value = 2 from postrider.idle_gate g), exists (select from postrider.intake)
      into v_rows, v_expiring, v_later, v_doubtful, v_is_heard, v_is_queued
      from (select r.* from new_rows r limit v_limit) n;
    exit when v_limit is null or v_rows < v_limit;
    v_limit := null;

    continue when v_doubtful + v_later > 0;

    -- Most large INSERTs hold rows that differ in URL and body only. Comparing each with the first is cheaper than
    -- looking at each: 1.2 us a row instead of 2.0.
    declare
      v_job postrider.jobs;
      v_pattern text;
      v_alike boolean;
    begin
      select n.* into v_job from new_rows n limit 1;
      v_pattern := substring(v_job.url from '^https?://[a-z0-9.-]+(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?/') || '%';
      continue when v_pattern is null;
      with lists as materialized (
        select array_agg(n.id) as ids,
               bool_and(coalesce(
                 n.url like v_pattern and n.queue = v_job.queue and n.priority = v_job.priority
                 and n.max_attempts = v_job.max_attempts and n.delivery = v_job.delivery and n.run_at <= now()
                 and postrider.job_is_regular(row(n.*)::postrider.jobs), false)) as is_alike
          from new_rows n
         group by n.id / 1000),
      stored as (
        insert into postrider.intake (queue, lane, priority, max_attempts, at_most_once, first_id, last_id, ids)
        select v_job.queue, postrider.job_lane(null, v_job.url), v_job.priority, v_job.max_attempts,
               v_job.delivery = 'at_most_once', l.ids[1], l.ids[cardinality(l.ids)], l.ids
          from lists l)
      select bool_and(l.is_alike) into v_alike from lists l;
      if not v_alike then
        raise exception using errcode = 'PR000';
      end if;
      if v_is_heard then
        perform pg_notify('postrider', '');
      end if;
      return null;
    exception when sqlstate 'PR000' then
      -- The lists are undone, and each row is looked at.
    end;
  end loop;

  if v_doubtful > 0 then
    declare
      v_job postrider.jobs;
    begin
      for v_job in select n.* from new_rows n loop
        perform postrider.admit_job(v_job);
      end loop;
    end;
  end if;

  if v_later > 0 then
    insert into postrider.scheduled (run_at, job_id, track, max_attempts, at_most_once, expires_at)
    select n.run_at, n.id, coalesce(t.id, 0), n.max_attempts, n.delivery = 'at_most_once', n.expires_at
      from new_rows n
     cross join lateral (
           select n.queue, n.priority, postrider.job_lane(coalesce(n.lane, n.service), n.url) as lane offset 0) k
      left join postrider.tracks t on t.queue = k.queue and t.lane = k.lane and t.priority = k.priority
     where n.run_at > now();
  end if;
  if v_rows = v_later then
    return null;
  end if;

  if v_expiring = 0 and (v_rows - v_later >= 10000 or v_is_queued) then
    insert into postrider.intake (queue, lane, priority, max_attempts, at_most_once, first_id, last_id, ids)
    select n.queue, postrider.job_lane(coalesce(n.lane, n.service), n.url), n.priority, n.max_attempts, n.delivery = 'at_most_once',
           min(n.id), max(n.id), array_agg(n.id)
      from new_rows n
     where n.run_at <= now()
     group by 1, 2, 3, 4, 5, n.id / 1000;
  else
    insert into postrider.ready (seq, job_id, track, max_attempts, at_most_once, expires_at)
    select n.id, n.id, coalesce(t.id, 0), n.max_attempts, n.delivery = 'at_most_once', n.expires_at
      from new_rows n
     cross join lateral (
           select n.queue, n.priority, postrider.job_lane(coalesce(n.lane, n.service), n.url) as lane offset 0) k
      left join postrider.tracks t on t.queue = k.queue and t.lane = k.lane and t.priority = k.priority
     where n.run_at <= now();
  end if;
  if v_is_heard then
    perform pg_notify('postrider', '');
  end if;
  return null;
end
$$;
comment on function postrider.jobs_feed() is 'private: statement trigger of jobs; refuses, feeds, wakes idle workers';

create or replace trigger jobs_feed
  after insert on postrider.jobs
  referencing new table as new_rows
  for each statement execute function postrider.jobs_feed();
