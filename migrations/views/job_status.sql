-- SPDX-License-Identifier: Apache-2.0
-- run_at is the time that counts: of a scheduled job its row's, which retries and reschedule() move; one that became ready before
-- the time it was inserted with was moved ahead, and shows when it became ready or began.
-- max_attempts is how many attempts the job may have in all, more after a retry; of an ended one, at least those it had.
-- What a batch or chain has no use for is null.
--
-- Lists of a state are looked up by newest_jobs: here each job would be looked at until enough of that state have been met.
create or replace view postrider.job_status as
select j.id, j.kind, m.parent_id, coalesce(m.position, j.position) as position, j.name, j.queue,
       coalesce(j.lane, j.service, postrider.url_lane(j.url)) as lane,
       j.service, coalesce(t.priority, p.priority, j.priority) as priority,
       case when r.job_id is not null then postrider.state_name(r.state)
            when o.state in ('c', 'e', 'k') then postrider.state_name(o.state)
            when o.job_id is not null then 'running'
            when s.job_id is not null then 'scheduled'
            when tr.state = 'o' then case when tr.run_at > now() then 'scheduled' else 'running' end
            when tr.job_id is not null or m.is_waiting then 'waiting'
            when p.worker > 0 then 'running'
            else 'ready'
       end as state,
       coalesce(r.attempt, o.attempt, s.attempt, p.attempt, m.attempt, 0) as attempt,
       case when j.kind = 'request'
         then coalesce(s.max_attempts, p.max_attempts,
                       greatest(j.max_attempts + coalesce(m.attempt, 0), r.attempt, o.attempt)) end as max_attempts,
       coalesce(s.run_at, tr.run_at, least(j.run_at, p.since, o.started_at, r.started_at)) as run_at,
       j.created_at,
       case when r.job_id is not null then r.started_at when o.job_id is not null then o.started_at
            when tr.run_at <= now() then tr.started_at when p.worker > 0 then p.since end as started_at,
       coalesce(r.finished_at, case when o.state in ('c', 'e', 'k') then o.finished_at end) as finished_at,
       w.name as worker,
       case when j.kind = 'request' then j.method end as method, postrider.url_shown(coalesce(d.url, j.url)) as url,
       r.status_code::int as status_code,
       postrider.headers_json(r.headers) as response_headers,
       r.body,
       coalesce(r.result, postrider.result_json(r.headers, r.body)) as result,
       coalesce(r.error_code, case when o.state in ('c', 'e', 'k') then o.error_code end) as error_code,
       coalesce(r.error, case when o.state in ('c', 'e', 'k') then o.error end) as error,
       coalesce(r.cache in ('hit', 'stale'), false) as from_cache,
       tr.failed_job_id,
       tr.children::bigint as children, tr.finished::bigint as children_finished, tr.failed::bigint as children_failed,
       b.done as bytes_done, b.total as bytes_total,
       j.tag, j.metadata
  from postrider.jobs j
  left join postrider.results r on r.job_id = j.id
  left join postrider.outcomes o on o.job_id = j.id
  left join postrider.trees tr on tr.job_id = j.id and j.kind <> 'request'
  left join postrider.members m on m.job_id = j.id and j.parent_id is not null
  left join postrider.scheduled s on s.job_id = j.id
  left join lateral (
       select q.worker, q.attempt, q.max_attempts, q.since, q.fence, t.priority
         from postrider.ready_place(j.id) q left join postrider.tracks t on t.id = q.track
        where r.job_id is null and s.job_id is null and j.kind = 'request' and m.is_waiting is not true) p on true
  left join lateral (
       select f.url from postrider.resolved f where f.job_id = j.id and j.parent_id is not null limit 1) d on true
  left join postrider.progress b on b.job_id = j.id and b.fence = p.fence and p.worker > 0
  left join postrider.tracks t on t.id = coalesce(r.track, o.track, s.track)
  left join postrider.workers w on w.id = coalesce(nullif(r.worker, 0), nullif(o.worker, 0), nullif(p.worker, 0));
comment on view postrider.job_status is
  'public: one row for each job: where it stands and what came back; read it by id, parent_id, tag or queue, or newest first with a LIMIT; newest_jobs gives the ids of a state';
