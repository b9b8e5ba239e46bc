-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- A webhook is a normal job with the rights of the role that inserted the reported job. The row in webhooks, which only
-- this function can write, makes the worker sign the call. Receivers may be down longer than APIs, so there are ten
-- attempts within a day.
--
-- A body above settings.max_request_body would be refused together with the end of the job. So the webhook is sent
-- without the result and says so.
create or replace function postrider_internal.send_webhooks(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with made as (
    insert into postrider.jobs (queue, priority, method, url, body_json, tag, metadata, created_by,
                                max_attempts, backoff, traceparent, tracestate)
    select j.queue, j.priority, 'POST', j.callback_url,
           case when postrider_internal.json_bytes(w.whole, s.max_request_body) <= s.max_request_body then w.whole
                when postrider_internal.json_bytes(j.metadata, 32768) > 32768
                then w.whole || jsonb_build_object(
                       'data', w.whole -> 'data' || '{"result": null, "metadata": null, "omitted": ["result", "metadata"]}')
                else w.whole || jsonb_build_object(
                       'data', w.whole -> 'data' || '{"result": null, "omitted": ["result"]}') end,
           'webhook', jsonb_build_object('job_id', j.id), j.created_by,
           10, '{1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h}', j.traceparent, j.tracestate
      from unnest(p_jobs) with ordinality as p(id, place)
      join postrider.jobs j on j.id = any (array[p.id])
      join postrider_internal.results r on r.job_id = any (array[p.id])
     cross join postrider.settings s
     cross join lateral (
           select jsonb_build_object(
                    'type', 'job.' || postrider_internal.state_name(r.state),
                    'timestamp', to_char(r.finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                    'data', jsonb_build_object(
                      'id', j.id, 'state', postrider_internal.state_name(r.state), 'status_code', r.status_code,
                      'result', coalesce(r.result, postrider_internal.result_json(r.headers, r.body)),
                      'error_code', r.error_code, 'tag', j.tag, 'metadata', j.metadata)) as whole
            offset 0) w
     order by p.place
    returning id, metadata)
  insert into postrider_internal.webhooks (job_id, source_job_id)
  select m.id, (m.metadata ->> 'job_id')::bigint from made m;
end
$$;
comment on function postrider_internal.send_webhooks(bigint[]) is
  'inserts a job with tag webhook for each of these finished jobs, which have a callback_url';
