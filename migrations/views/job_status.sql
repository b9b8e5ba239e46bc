-- SPDX-License-Identifier: Apache-2.0
-- run_at is the time that applies: for a scheduled job the time of its row, which retries and reschedule() change. A
-- job that became ready before its inserted time was moved earlier. Then run_at is the time at which it became ready or
-- began.
--
-- max_attempts is how many attempts the job may have in all, more after a retry; for an ended job at least the attempts
-- made. Columns without a meaning for batches and chains are null.
--
-- A role sees the jobs it inserted, or all. The filter is no security barrier: behind a barrier the view could not be
-- joined by id without computing it completely. So columns about the content of a job are null until the filter has
-- passed, wherever a reader's own condition is evaluated.
--
-- Ids, queues, tags, times, states and counts are always set. Indexes need them, or they reveal nothing about the work
-- of the job (decision 23).
--
-- All look-ups are for one job at a time, in lateral parts, so that a plan starts with an index of jobs. With free
-- joins PostgreSQL read the results of many jobs completely, and the jobs for the members of a batch of ten thousand
-- too. Its cost estimate counts a descent into each range of ids although only one takes place.
--
-- There is another reason for the large lateral part. PostgreSQL searches a join order among at most eight tables. It
-- computes a larger view completely before it joins it.
--
-- Members that settle has not counted yet are added here. So a client that inserts a member sees it at once, and a
-- batch or chain never shows fewer members than have ended.
--
-- newest_jobs and find_jobs find lists of jobs. Here each job would be read until enough jobs of that state were found.
create or replace view postrider.job_status as
select j.id, j.kind, j.parent_id, coalesce(m.position, j.position) as position, case when p.visible
  then j.name end as name, j.queue,
       case when p.visible then postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) end as lane,
       case when p.visible then j.service end as service,
       coalesce((select t.priority from postrider_internal.tracks t where t.id = coalesce(r.track, p.track)),
                j.priority) as priority,
       case when r.job_id is not null then postrider_internal.state_name(r.state)
            when p.ending in ('c', 'e', 'k') then postrider_internal.state_name(p.ending)
            when p.ending is not null then 'running'
            when p.is_scheduled then 'scheduled'
            when p.tree = 'o' then case when p.tree_run_at > now() then 'scheduled' else 'running' end
            when p.tree is not null or m.is_waiting then 'waiting'
            when p.worker > 0 then 'running'
            else 'ready'
       end as state,
       coalesce(r.attempt, p.attempt, m.attempt, 0) as attempt,
       case when j.kind = 'request'
         then coalesce(p.max_attempts,
                       greatest(j.max_attempts + coalesce(m.attempt, 0), r.attempt,
                                p.ended_attempt)) end as max_attempts,
       coalesce(p.run_at, p.tree_run_at, least(j.run_at, p.since, p.started_at, r.started_at)) as run_at,
       j.created_at,
       case when r.job_id is not null then r.started_at when p.ending is not null then p.started_at
            when p.tree_run_at <= now() then p.tree_started_at when p.worker > 0 then p.since end as started_at,
       coalesce(r.finished_at, case when p.ending in ('c', 'e', 'k') then p.finished_at end) as finished_at,
       case when p.visible then (
         select w.name from postrider_internal.workers w
           where w.id = coalesce(nullif(r.worker, 0), nullif(p.worker, 0))) end as worker,
       case when p.visible and j.kind = 'request' then j.method end as method,
       case when p.visible then postrider_internal.url_without_login(coalesce(
         (select f.url from postrider_internal.filled_templates f
          where f.job_id = j.id and j.parent_id is not null limit 1), j.url)) end as url,
       case when p.visible then r.status_code::int end as status_code,
       case when p.visible then postrider_internal.headers_json(r.headers) end as response_headers,
       case when p.visible then r.body end as body,
       case when p.visible then coalesce(r.result, postrider_internal.result_json(r.headers, r.body)) end as result,
       case when p.visible then coalesce(r.error_code, case when p.ending in ('c', 'e', 'k')
                                         then p.error_code end) end as error_code,
       case when p.visible then coalesce(r.error, case when p.ending in ('c', 'e', 'k') then p.error end) end as error,
       case when p.visible then coalesce(r.cache in ('hit', 'stale'), false) end as from_cache,
       p.failed_job_id, p.children::bigint as children, p.children_finished::bigint as children_finished,
       p.children_failed::bigint as children_failed, p.bytes_done, p.bytes_total,
       j.tag, case when p.visible then j.metadata end as metadata,
       case when p.visible and r.state = 'f' then (
         select e.code from postrider_internal.envelope_errors e
           where e.job_id = j.id and e.fence = r.fence) end as envelope_code,
       case when p.visible and r.state = 'f' then (
         select e.name from postrider_internal.envelope_errors e
           where e.job_id = j.id and e.fence = r.fence) end as error_name,
       case when p.visible then j.dedupe_key end as dedupe_key,
       case when p.visible and j.paginate is not null then (
         select f.next is not null from postrider_internal.fetched_pages f where f.job_id = j.id
           order by f.page desc limit 1) end as has_more,
       case when not p.visible or j.kind <> 'request' then null
            when num_nonnulls(j.service, j.credential, j.query, j.parent_id, j.paginate) = 0
              then postrider_internal.url_with_masked_query(
                     postrider_internal.url_without_login(split_part(j.url, '#', 1)), '{}')
            else (
         select postrider_internal.request_url(coalesce(g.url, f.url, j.url), case when g.url is null
                                               then coalesce(f.query, j.query) end,
                  case when j.use_cdn and s.cdn_url is not null then s.cdn_url
                    else coalesce(p.server, v.base_url, s.base_url) end,
                  -- The same as service_applies, which readers cannot call because it reads servers.
                  case when s.apply_to_absolute or postrider_internal.url_is_relative(coalesce(f.url, j.url))
                         or postrider_internal.origin_is_among(coalesce(f.url, j.url), array[s.base_url,
                                                               s.cdn_url] || array(
                              select t.base_url from postrider_internal.server_routes t where t.service = s.name))
                       then s.query end,
                  s.query is not null and has_table_privilege('postrider.services', 'select'),
                  postrider_internal.used_place(k.place, j.body_json, num_nonnulls(j.body_form, j.body_parts) > 0)
                    ->> 'query')
           from (values (1)) one
           left join postrider.services s on s.name = j.service
           left join postrider.credentials k on k.name = postrider_internal.used_credential(j.credential, s.credential)
           left join lateral (
                select x.url, x.query from postrider_internal.filled_templates x
                  where x.job_id = j.id and j.parent_id is not null limit 1) f on true
           left join lateral (
                select x.url from postrider_internal.fetched_pages x
                 where x.job_id = j.id and j.paginate is not null order by x.page desc limit 1) g on true
           left join lateral (
                select t.base_url from postrider_internal.server_routes t
                 where t.service = j.service and p.server is null and t.environment = coalesce((
                         select w.environment from postrider_internal.workers w
                           where w.id = coalesce(nullif(r.worker, 0), nullif(p.worker, 0))), 'release')
                 order by t.state <> 'active', t.position < (
                   select min(q.position) from postrider_internal.server_routes q
                    where q.service = t.service and q.environment = t.environment and q.is_preferred), t.position
                 limit 1) v on true) end as request_url,
       case when p.visible and r.job_id is null and p.ending is null and j.kind = 'request' then (
         select concat_ws(': ', t.error_code, t.error) from postrider_internal.past_attempts t
          where t.job_id = j.id and t.error_code is not null order by t.fence desc limit 1) end as last_error,
       (select case when w.began > w.ended then interval '0' else w.ended - w.began end
          from (select coalesce(r.finished_at, case when p.ending in ('c', 'e', 'k')
                                then p.finished_at end, now()) as ended,
                       least((select t.started_at from postrider_internal.past_attempts t
                               where t.job_id = j.id and t.fence > coalesce((
                                 select e.fence from postrider_internal.past_attempts e
                                  where e.job_id = j.id and e.ended_as is not null order by e.fence desc limit 1), 0)
                               order by t.fence limit 1),
                             r.started_at, p.started_at, case when p.tree_run_at <= now() then p.tree_started_at end,
                             case when p.worker > 0 and p.ending is null
                               then p.since end) as began offset 0) w) as elapsed,
       case when p.visible then j.operation end as operation,
       case when p.visible then j.operation_revision end as operation_revision,
       case when p.visible then postrider_internal.masked_json(j.arguments) end as arguments
  from postrider.jobs j
  left join lateral (select * from postrider_internal.results x where x.job_id = j.id limit 1) r on true
  left join lateral (select * from postrider_internal.members x
                     where x.job_id = j.id and j.parent_id is not null limit 1) m on true
 cross join lateral (
       select j.created_by = current_user or (select postrider_internal.sees_all()) as visible,
              o.state as ending, o.attempt as ended_attempt, o.started_at, o.finished_at, o.error_code, o.error,
              coalesce(r.server, o.server) as server,
              t.state as tree, t.run_at as tree_run_at, t.started_at as tree_started_at, t.failed_job_id,
              case when t.job_id is not null then t.children + coalesce((
                select sum(d.added) from postrider_internal.tree_deltas d
                 where d.tree_id = t.job_id and d.run = t.run and d.added > 0), 0) end as children,
              t.finished as children_finished, t.failed as children_failed,
              s.job_id is not null as is_scheduled, s.run_at, u.since,
              coalesce(nullif(o.worker, 0), u.worker) as worker,
              coalesce(o.attempt, s.attempt, u.attempt) as attempt,
              coalesce(s.max_attempts, u.max_attempts) as max_attempts,
              coalesce(o.track, s.track, u.track) as track, b.done as bytes_done, b.total as bytes_total
         from (values (1)) one
         left join postrider_internal.trees t on t.job_id = j.id and j.kind <> 'request'
         left join postrider_internal.outcomes o on o.job_id = j.id and r.job_id is null
         left join postrider_internal.scheduled s on s.job_id = j.id and r.job_id is null
         left join lateral (
              select q.* from (
              (select y.track, y.worker, y.attempt, y.max_attempts, y.since, y.fence
                 from postrider_internal.tracks k
                cross join lateral (
                      select x.track, x.worker, x.attempt, x.max_attempts, x.since, x.fence
                        from postrider_internal.ready x
                          where x.track = k.id and x.seq = j.id and x.job_id = j.id offset 0) y
                where k.queue = j.queue and k.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
                  and k.priority = j.priority)
              union all
              (select y.track, y.worker, y.attempt, y.max_attempts, y.since, y.fence
                 from postrider_internal.ready y where y.track = 0 and y.seq = j.id and y.job_id = j.id)
              union all
              (select y.track, y.worker, y.attempt, y.max_attempts, y.since, y.fence
                 from postrider_internal.removed_tracks d
                cross join lateral (
                      select v.track from unnest(d.tracks, d.queues, d.lanes) v (track, queue, lane)
                       where v.queue = j.queue and v.lane
                         = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)) v
                cross join lateral (
                      select x.track, x.worker, x.attempt, x.max_attempts, x.since, x.fence
                        from postrider_internal.ready x
                          where x.track = v.track and x.seq = j.id and x.job_id = j.id offset 0) y)
              union all
              (select y.track, y.worker, y.attempt, y.max_attempts, y.since, y.fence
                 from postrider_internal.ready y where y.job_id = j.id and y.seq <> y.job_id)
              limit 1) q
              where s.job_id is null and r.job_id is null and j.kind = 'request' and m.is_waiting is not true) u on true
         left join postrider_internal.progress b on b.job_id = j.id and b.fence = u.fence and u.worker > 0
       offset 0) p
 where p.visible;
comment on view postrider.job_status is
  'one row for each job with state and answer; read it by id, parent_id, tag or queue, or newest first with LIMIT';
comment on column postrider.job_status.id is 'id of the job, as INSERT … RETURNING id and submit return it';
comment on column postrider.job_status.kind is 'request, batch or chain';
comment on column postrider.job_status.parent_id is 'the batch or chain to which the job belongs';
comment on column postrider.job_status.position is 'place among the members of its batch or chain';
comment on column postrider.job_status.name is 'name for templates';
comment on column postrider.job_status.queue is 'decides which workers may take the job';
comment on column postrider.job_status.lane is
  'unit of limits and pauses: jobs.lane, otherwise the service, otherwise host:port of the URL';
comment on column postrider.job_status.service is 'row of services that gives base URL, headers and limits';
comment on column postrider.job_status.priority is 'higher runs first; reschedule changes it';
comment on column postrider.job_status.state is
  'waiting (for its turn in a batch or chain), scheduled, ready, running, succeeded, failed, cancelled, expired, '
  'skipped or unknown (sent, effect not known)';
comment on column postrider.job_status.attempt is 'attempts so far, including a running one; 0: no attempt';
comment on column postrider.job_status.max_attempts is
  'most attempts of the job in all; retry adds to them; null for batches and chains';
comment on column postrider.job_status.run_at is
  'the job does not start before this time; while it waits for a retry, the time of the retry';
comment on column postrider.job_status.created_at is 'start of the transaction that inserted the job';
comment on column postrider.job_status.started_at is
  'start of the last attempt; for a batch or chain, when its first members were released';
comment on column postrider.job_status.finished_at is 'when the job ended; null: unfinished';
comment on column postrider.job_status.worker is 'worker of the present or last call; see worker_status';
comment on column postrider.job_status.method is 'method of the request; null for batches and chains';
comment on column postrider.job_status.url is 'URL with filled templates, without user and password';
comment on column postrider.job_status.status_code is
  'status of the last answer; null while the job runs and without an answer';
comment on column postrider.job_status.response_headers is
  'headers of the answer: lower-case name to array of values, in order of arrival';
comment on column postrider.job_status.body is
  'body of the answer, byte for byte; convert_from(body, ''UTF8'') is the text';
comment on column postrider.job_status.result is
  'the JSON of the answer, or the part selected by extract and the envelope; null for batches and chains';
comment on column postrider.job_status.error_code is
  'why the job did not succeed, from error_codes; null while it runs';
comment on column postrider.job_status.error is 'the error in a sentence, with advice';
comment on column postrider.job_status.from_cache is 'true: the answer came from the cache without a call';
comment on column postrider.job_status.failed_job_id is 'for a batch or chain: the first member that failed';
comment on column postrider.job_status.children is 'for a batch or chain: number of members so far; null for requests';
comment on column postrider.job_status.children_finished is 'number of members that have ended, in any state';
comment on column postrider.job_status.children_failed is 'number of members that ended neither succeeded nor skipped';
comment on column postrider.job_status.bytes_done is
  'bytes received so far in a running transfer, at most a second old; otherwise null';
comment on column postrider.job_status.bytes_total is 'announced length of this transfer; null: not known';
comment on column postrider.job_status.tag is 'your own text';
comment on column postrider.job_status.metadata is 'your own JSON';
comment on column postrider.job_status.envelope_code is
  'code in the last answer, by services.envelope, if it failed the job';
comment on column postrider.job_status.error_name is 'name of envelope_code in services.envelope; null: no name';
comment on column postrider.job_status.dedupe_key is 'unique in its queue while the job is unfinished; see find_job';
comment on column postrider.job_status.has_more is
  'with paginate: true if the last fetched page leads to another; null: no page fetched, or no paginate';
comment on column postrider.job_status.request_url is
  'URL of the call with base URL, query and filled templates; *** for secrets; before the first call, the URL it would '
  'have now';
comment on column postrider.job_status.last_error is
  'error_code and error of the last attempt of an unfinished job; null: no attempt has failed';
comment on column postrider.job_status.elapsed is
  'time from the first attempt (after retry: from the first since then) to the end or now, with waits; null: not '
  'started';
comment on column postrider.job_status.operation is 'row of operations from which the job was made';
comment on column postrider.job_status.operation_revision is 'revision of the operation that was copied';
comment on column postrider.job_status.arguments is 'arguments of the operation; *** for secrets';
