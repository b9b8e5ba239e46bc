-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Runs between claim and call, for jobs with is_rich. It looks up what their service adds, so a change of a service
-- applies to each call that begins after it.
--
-- A job that is missing in the result was handled: it is finished or waits elsewhere, and the worker frees its slot.
-- The first columns equal the columns of claim. For jobs in p_long, body is null there. It follows after all jobs, in
-- rows that hold only job_id and a slice of body.
--
-- expensive: null if the claiming session may judge the answer, otherwise three texts. The first lists the columns with
-- expressions that may take long. The second is the lane in whose turn the judging session judges the answer. The third
-- is one of:
-- - s: only an answer with a successful status needs these expressions
-- - f: a failure may need them too
-- - c: a cached answer serves the job, so it is not called
--
-- It is one column, because each column costs 1 µs a job. p_hold_ms: how long such jobs wait before their calls; null:
-- the worker has room for their answers.
--
-- answer_options: null for most jobs, otherwise max_redirects, plus 16 if the body is stored as received, plus 32 if
-- answer rules read failures, too. trace: null, or see rooted_trace_texts. p_traces_all: all jobs have a trace.
-- p_stubs_only: the worker makes no real call. p_stub: the answers of these jobs.
create or replace function postrider_internal.prepare(
  p_worker int, p_app_version text, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[],
  p_hold_ms int default null, p_long bigint[] default '{}', p_stubs_only boolean default false,
  p_stub jsonb[] default null, p_traces_all boolean default false)
returns table (
  job_id bigint, method text, url text, query text[], headers text[], body_kind "char", body bytea, form text[],
  timeout_ms int, max_response bigint, ok_statuses int[],
  idempotency_header text, gzip boolean, connect_ms int, first_byte_ms int, private_network boolean,
  proxy text, interface text, ca text, certificate text, key text, pins text[],
  keeps_cookies boolean, cookies text[], parts text[], part_bodies bytea[],
  download_to text, sha256 bytea, checks_xml boolean, is_judged boolean,
  has_hooks boolean, webhook_time bigint, has_pages boolean, server int, goes_on boolean,
  credential text, credential_kind text, credential_version bigint, sealed bytea, secrets text[], place text[],
  expensive text[], answer_options int, stub text[], service text, trace text[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_done bigint[] := '{}';
  v_cached bigint[];
  v_gone bigint[] := '{}';                 -- jobs that are not called now, or were prepared already
  -- Null while no service has servers.
  v_server int[];
  v_base text[];
  v_goes_on boolean[];
  v_stubs record;
begin
  if p_hold_ms is not null then
    v_gone := postrider_internal.defer_expensive_jobs(p_worker, p_hold_ms, p_track, p_seq, p_fence, p_job);
  end if;
  if p_stub is null and (p_stubs_only or exists (select from postrider.services s where s.stub is not null)) then
    v_stubs := postrider_internal.take_stubs(p_worker, p_track, p_seq, p_fence, p_job, v_gone, p_stubs_only);
    if v_stubs.jobs <> '{}' then
      return query
      select p.* from postrider_internal.prepare(p_worker, p_app_version, null, null, v_stubs.fences, v_stubs.jobs,
                                                 p_stub => v_stubs.answers, p_traces_all => p_traces_all) p;
    end if;
    v_gone := v_gone || v_stubs.jobs || v_stubs.ended;
  end if;
  if v_gone <> '{}' then
    select w.* into p_track, p_seq, p_fence, p_job
      from postrider_internal.without_jobs(p_track, p_seq, p_fence, p_job, v_gone) w;
  end if;
  if p_stub is null and p_job is not null and exists (select from postrider.credentials) then
    v_gone := postrider_internal.hold_for_credentials(p_worker, p_track, p_seq, p_fence, p_job);
    if v_gone <> '{}' then
      select w.* into p_track, p_seq, p_fence, p_job
        from postrider_internal.without_jobs(p_track, p_seq, p_fence, p_job, v_gone) w;
    end if;
  end if;
  if p_job is null then
    return;
  end if;
  if p_stub is null then
    select c.done, c.expensive into v_done, v_cached
      from postrider_internal.cache_serve(p_worker, p_app_version, p_track, p_seq, p_fence, p_job) c;
    if cardinality(v_done) = cardinality(p_job) then
      return;
    end if;
    v_done := v_done || postrider_internal.fail_misconfigured_jobs(p_worker, p_track, p_seq, p_fence, p_job);
    if exists (select from postrider_internal.server_routes) then
      select p.server, p.base, p.goes_on into v_server, v_base, v_goes_on
        from postrider_internal.pick_servers(p_worker, p_track, p_seq, p_fence, p_job, v_done || v_cached) p;
    end if;
  end if;
  return query
  select j.id, j.method,
         case when x.base is not null then postrider_internal.url_join(x.base, coalesce(g.url, d.url, j.url))
              else postrider_internal.job_url(coalesce(g.url, d.url, j.url), j.use_cdn, s) end,
         case when g.url is not null and a.query is not null then postrider_internal.call_query(g.query, g.url, a.query)
              when g.url is not null then postrider_internal.pairs(g.query)
              when a.query is not null then postrider_internal.call_query(coalesce(d.query, j.query),
                  coalesce(d.url, j.url), a.query)
              when j.query is not null then postrider_internal.pairs(coalesce(d.query, j.query)) end,
         case when a.headers is not null then postrider_internal.call_headers(
                coalesce(g.headers, d.headers, j.headers), case when j.body_form is null then a.headers
                  else postrider_internal.form_headers(a.headers) end)
              when num_nonnulls(g.headers, j.headers) > 0
                then postrider_internal.pairs(coalesce(g.headers, d.headers, j.headers)) end
           || postrider_internal.cache_validators(c),
         case when j.body is not null then 'b' when j.body_json is not null then 'j'
              when j.body_form is not null then 'f' when j.body_parts is not null then 'p' else 'n' end::"char",
         case when j.id = any (p_long) then null when j.body is not null then j.body
              when j.body_json is not null then postrider_internal.json_body(coalesce(g.body_json, d.body_json,
                  j.body_json), k.place) end,
         case when j.body_form is not null then postrider_internal.form_pairs(coalesce(d.body_form, j.body_form)) end,
         postrider_internal.milliseconds(case
           when j.timeout is null and (j.download_to is not null
                or j.body_parts @? '$[*].file') then null else coalesce(j.timeout, s.timeout) end),
         case when j.download_to is not null then j.max_response else coalesce(j.max_response, s.max_response) end,
         case when j.ok_statuses is not null then postrider_internal.status_bounds(j.ok_statuses) end,
         s.idempotency_header, coalesce(s.gzip_request, false),
         postrider_internal.milliseconds(s.connect_timeout), postrider_internal.milliseconds(s.first_byte_timeout),
         coalesce(s.allow_private_network, false),
         s.proxy, s.interface, s.tls ->> 'ca', s.tls ->> 'certificate', s.tls ->> 'key',
         case when s.tls ? 'pins' then array(select jsonb_array_elements_text(s.tls -> 'pins')) end,
         coalesce(a.cookies and p_stub is null, false),
         case when a.cookies and p_stub is null then array(
           select c.line from postrider_internal.cookies c
             where c.service = s.name and c.credential = coalesce(u.credential, '')
              and c.login = coalesce(k.login, 0)) end,
         case when j.body_parts is not null
           then postrider_internal.part_texts(coalesce(d.body_parts, j.body_parts)) end,
         case when j.body_parts is not null
           then postrider_internal.part_bodies(coalesce(d.body_parts, j.body_parts)) end,
         j.download_to, decode(j.sha256, 'hex'), j.response_format = 'xml',
         -- Answers without further rules are finished like plain jobs, because judge costs 30 µs.
         j.cache_ttl is not null or j.response_format <> 'raw' or j.result_type <> 'any'
           or num_nonnulls(j.validator, j.extract, u.envelope, j.rules, j.operation_rules, s.rules) > 0
             or coalesce(a.cookies or s.cache_mode = 'http', false)
           or j.paginate is not null or k.name is not null or j.require_data is true,
         case when (select exists (select from postrider.hooks h where h.event = 'will_start')) then exists (
           select from postrider.hooks h
            where h.event = 'will_start' and (h.service is null or h.service = j.service)
              and (h.queue is null or h.queue = j.queue))
         else false end,
         case when j.tag = 'webhook' and exists (select from postrider_internal.webhooks w where w.job_id = j.id)
              then extract(epoch from clock_timestamp())::bigint end,
         j.paginate is not null, x.server, coalesce(x.goes_on, false),
         coalesce(u.credential, case when j.login_required and p_stub is null then '' end), k.kind, k.version, k.sealed,
         k.secrets, case when k.name is not null then postrider_internal.credential_place(k.kind, k.place) end,
         case when v_cached <> '{}' and j.id = any (v_cached)
                or num_nonnulls(j.validator, j.extract, u.envelope, j.paginate) > 0
                     and not postrider_internal.judges_cheaply(j, u.envelope)
                or num_nonnulls(j.rules, j.operation_rules, s.rules) > 0
                     and not postrider_internal.has_cheap_rules(j, s.rules)
              then array[postrider_internal.expensive_columns(j, u.envelope, s.rules),
              coalesce((select t.lane from postrider_internal.tracks t where t.id = x.track), ''),
                         case when j.id = any (v_cached) then 'c' when j.cache_ttl is not null or k.name is not null
                             or num_nonnulls(j.rules, j.operation_rules, s.rules) > 0 then 'f' else 's' end] end,
         case when num_nonnulls(j.decode, j.max_redirects, j.rules, j.operation_rules, s.rules) > 0
              then coalesce(j.max_redirects, 5) + (j.decode is false)::int * 16
                + (num_nonnulls(j.rules, j.operation_rules, s.rules) > 0)::int * 32 end,
         case when p_stub is not null then postrider_internal.stub_texts(x.stub) end, j.service,
         case when j.traceparent is not null or p_traces_all then postrider_internal.rooted_trace_texts(j) end
    from unnest(p_fence, p_job, v_server, v_base, v_goes_on, p_track, p_stub)
      as x(fence, job, server, base, goes_on, track, stub)
    join postrider.jobs j on j.id = any (array[x.job])
    left join postrider.services s on s.name = j.service
   cross join lateral (
         select postrider_internal.used_envelope(j.use_envelope, s.envelope) as envelope,
                case when p_stub is null then postrider_internal.used_credential(j.credential, s.credential) end
                  as credential) u
    -- Jobs that are not members pay only for the check of parent_id.
    left join lateral (
         select r.* from postrider_internal.filled_templates r
           where r.job_id = j.id and j.parent_id is not null limit 1) d on true
    left join lateral (
         select s.query, s.headers, s.cookies where postrider_internal.service_applies(coalesce(d.url, j.url), s)) a
           on true
    -- In a CASE, because PostgreSQL calls a function in FROM before it checks a condition on its rows (28 µs a job).
    left join lateral postrider_internal.page_call(case when j.paginate is not null
                                                   then postrider_internal.filled_job(j) end) g on true
    left join lateral (
         select n.name, n.kind, r.login,
                postrider_internal.used_place(
                  n.place, coalesce(g.body_json, d.body_json, j.body_json),
                  num_nonnulls(j.body_form, j.body_parts) > 0) as place, z.version, z.sealed, case when z.sealed is null
                    then postrider_internal.pairs(z.plain) end as secrets
           from postrider.credentials n left join postrider_internal.secrets z on z.credential = n.name
           left join postrider_internal.refreshes r on r.credential = n.name
          where n.name = u.credential limit 1) k on true
    left join postrider_internal.cache_flights c on c.job_id = x.job and c.fence = x.fence and c.is_conditional
   where x.job <> all (v_done);
  if cardinality(p_long) > 0 then
    for job_id, body in
      select b.job_id, b.slice from postrider_internal.body_slices(array(
        select l.job from unnest(p_long) l (job) where l.job <> all (v_done))) b
    loop
      return next;
    end loop;
  end if;
end
$$;
comment on function postrider_internal.prepare(int, text, int[], bigint[], bigint[], bigint[], int, bigint[],
                                             boolean, jsonb[], boolean) is
  'the requests of claimed jobs with everything that their services add; ends jobs that cannot be sent';
