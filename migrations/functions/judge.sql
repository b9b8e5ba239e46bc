-- SPDX-License-Identifier: Apache-2.0
-- What finish is to plain jobs, for those that claim called rich: an attempt that the worker takes for a success is
-- held against what its job and service ask of the answer. Then finish does the rest.
--
-- A 304 that the cache asked for is answered with what is cached, under its own status. stale_if_error serves at once, not
-- after the last attempt: who allows old answers wants one rather than a wait.
--
-- p_cookies: what the call changed in its cookie jar; null: untouched; see keep_cookies.
-- p_credential, p_version: what the call carried; see credential_judge.
-- p_redirected: whether the answer is that of another URL, to which a redirect led; null: none is.
-- p_left: whether that is one of another origin, which got no token and whose word on it counts for nothing; null: none is.
-- p_landed: of jobs with paginate, where redirects led, if that is another URL of the same origin.
drop function if exists postrider.judge(
  int, int[], bigint[], bigint[], "char"[], smallint[], text[], text[], bytea[], bytea[], bigint[],
  int[], int[], int[], int[], int[], text[], text[], boolean[], bigint[], bigint[],
  bigint[], text, text[], int[], "char"[], text[], bigint[], boolean[]);
drop function if exists postrider.judge(
  int, int[], bigint[], bigint[], "char"[], smallint[], text[], text[], bytea[], bytea[], bigint[],
  int[], int[], int[], int[], int[], text[], text[], boolean[], bigint[], bigint[],
  bigint[], text, text[], int[], "char"[], text[], bigint[], boolean[], boolean[]);
create or replace function postrider.judge(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_verdict "char"[], p_status smallint[],
  p_code text[], p_error text[], p_headers bytea[], p_body bytea[], p_retry_after_ms bigint[],
  p_dns int[], p_connect int[], p_tls int[], p_first_byte int[], p_total int[],
  p_ip text[], p_http text[], p_reused boolean[], p_sent bigint[], p_received bigint[],
  p_job bigint[], p_app_version text, p_cookies text[], p_server int[] default null, p_health "char"[] default null,
  p_credential text[] default null, p_version bigint[] default null, p_redirected boolean[] default null,
  p_left boolean[] default null, p_landed text[] default null)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_job postrider.jobs;
  v_service postrider.services;
  v_call postrider.cache_calls;
  v_kept record;
  v_answer record;
  v_turn record;
  -- As long as the batch from the start: an array that is begun at its third element has one element, not three.
  v_cache text[] := array_fill(null::text, array[cardinality(p_seq)]);
  v_encoding text[] := v_cache;
  v_result jsonb[] := array_fill(null::jsonb, array[cardinality(p_seq)]);
  v_outdates boolean[] := array_fill(null::boolean, array[cardinality(p_seq)]);
  v_pages postrider.fetched_pages[] := '{}';
  v_page postrider.fetched_pages;
  v_done bigint[];
  v_cached boolean := exists (select from postrider.cache_calls c where c.job_id = any (p_job));
begin
  for i in 1 .. cardinality(p_seq) loop
    if p_verdict[i] in ('f', 'r', 'u') then
      -- Of a list of pages the answer alone does not tell which one it was.
      p_error[i] := p_error[i] || coalesce((
        select format(' (page %s)', coalesce((select max(p.page) from postrider.fetched_pages p where p.job_id = j.id), 0) + 1)
          from postrider.jobs j where j.id = p_job[i] and j.paginate is not null), '');
    end if;
    -- A job may fail with an answer by which the server has acted: that outdates what is cached.
    continue when p_verdict[i] <> 's' and not v_cached and (p_credential[i] is null or p_code[i] is distinct from 'http_status')
      and not coalesce(p_status[i] between 200 and 399 or p_redirected[i], false);
    select * into v_job from postrider.jobs j where j.id = p_job[i];
    select * into v_service from postrider.services s where s.name = v_job.service;
    if p_server[i] is not null then
      -- Links to further pages are compared with where the call went.
      v_service.base_url := coalesce((select t.base_url from postrider.server_routes t where t.id = p_server[i]), v_service.base_url);
    end if;
    if v_job.paginate is not null then
      v_job := postrider.page_job(postrider.filled(v_job));
    end if;
    if v_cached then
      select * into v_call from postrider.cache_calls c where c.job_id = p_job[i] and c.fence = p_fence[i];
      v_cache[i] := v_call.reason;
      if v_call.asks and p_status[i] = 304 then
        select * into v_kept from postrider.cache_confirmed(v_call, v_job, p_app_version, p_headers[i]);
        if v_kept.status is not null and not coalesce(p_redirected[i], false) then
          v_cache[i] := 'revalidated';
          p_verdict[i] := 's';
          p_status[i] := v_kept.status;
          p_headers[i] := v_kept.headers;
          p_body[i] := v_kept.body;
        else
          p_verdict[i] := 'r';
          p_code[i] := 'http_status';
          p_error[i] := case
            when p_redirected[i] then 'status 304 of another URL, to which a redirect led; the next try asks for all of the answer'
            else 'status 304, but the cached answer that was asked about is gone; the next try asks for all of it' end;
        end if;
      end if;
    end if;
    if p_credential[i] is not null and p_left[i] is not true and p_code[i] = 'http_status' and v_service.envelope ?| array['token_expired', 'logged_out'] then
      select o.code, o.error into v_answer from postrider.token_outcome(v_service.envelope, p_body[i]) o;
      if v_answer.code is not null then
        p_verdict[i] := 'f';
        p_code[i] := v_answer.code;
        p_error[i] := v_answer.error;
      end if;
    end if;
    if p_verdict[i] = 's' and v_job.service is not null and v_service.name is null then
      -- What its envelope would have said of the answer nobody knows.
      p_verdict[i] := 'f';
      p_code[i] := 'config';
      p_error[i] := format('service %s was removed while the call was under way, so the answer could not be judged; insert it again and retry the job', v_job.service);
    end if;
    if p_verdict[i] = 's' then
      select * into v_answer
        from postrider.judge_answer(v_job, v_service, p_status[i]::int, p_headers[i], p_body[i]);
      p_verdict[i] := v_answer.verdict;
      p_code[i] := v_answer.code;
      p_error[i] := v_answer.error;
      v_encoding[i] := v_answer.encoding;
      v_result[i] := v_answer.result;
      if v_answer.verdict = 'r' and p_server[i] is not null and p_left[i] is not true then
        -- HTML that counts as a 502, unless another origin sent it.
        p_health[i] := 'f';
      end if;
      if v_job.paginate is not null then
        v_turn := postrider.page_turn(
          v_job, v_service, p_status[i]::int, p_headers[i], p_body[i], p_verdict[i], p_code[i], p_error[i], v_result[i], v_encoding[i], p_landed[i]);
        p_verdict[i] := v_turn.verdict;
        p_code[i] := v_turn.code;
        p_error[i] := v_turn.error;
        v_result[i] := v_turn.result;
        v_pages[i] := v_turn.page;
        if (v_turn.page).job_id is not null then
          -- A good page is kept in pages and in the result; the last one's body alone would pass for all of it.
          p_body[i] := null;
          v_encoding[i] := null;
        end if;
      end if;
    end if;
    -- To at_most_once a failure that others try again is final. Only that a GET or HEAD may have reached the server is
    -- nothing that somebody must know.
    if v_cached and v_service.stale_if_error is not null
       and (p_verdict[i] in ('r', 'w') or p_verdict[i] = 'f' and v_job.delivery = 'at_most_once'
            or p_verdict[i] = 'u' and v_job.method in ('GET', 'HEAD')) then
      select * into v_kept
        from postrider.cache_stale(v_call, v_job, v_service, p_app_version, p_code[i], p_status[i]::int);
      if v_kept.status is not null then
        select * into v_answer
          from postrider.judge_answer(v_job, v_service, v_kept.status::int, v_kept.headers, v_kept.body);
        if v_answer.verdict = 's' then
          v_cache[i] := 'stale';
          p_verdict[i] := 's';
          p_code[i] := null;
          p_error[i] := null;
          p_status[i] := v_kept.status;
          p_headers[i] := v_kept.headers;
          p_body[i] := v_kept.body;
          v_encoding[i] := v_answer.encoding;
          v_result[i] := v_answer.result;
        end if;
      end if;
    end if;
    v_outdates[i] := v_service.cache_mode = 'http' and v_job.method in ('POST', 'PUT', 'PATCH', 'DELETE');
  end loop;
  if num_nonnulls(variadic p_credential) > 0 then
    select t.p_verdict, t.p_code, t.p_error into p_verdict, p_code, p_error
      from postrider.credential_judge(
        p_job, case when p_left is null then p_credential
                    else array(select case when x.has_left is not true then x.credential end
                                 from unnest(p_credential, p_left) with ordinality as x(credential, has_left, n) order by x.n) end, p_version, p_status, p_headers, p_verdict, p_code, p_error) t;
  end if;
  v_done := postrider.finish(p_worker, p_track, p_seq, p_fence, p_verdict, p_status, p_code, p_error, p_headers, p_body,
    p_retry_after_ms, p_dns, p_connect, p_tls, p_first_byte, p_total, p_ip, p_http, p_reused, p_sent, p_received,
    v_cache, v_encoding, v_result, p_server, p_health, p_version);
  if v_cached or true = any (v_outdates) then
    -- Storing locks entries in one order, outdating those of one job after the other: batches that only store go side by side, one
    -- that outdates has the service's entries for itself. Two that did both waited for each other until their time was over.
    perform case when l.outdates then pg_advisory_xact_lock(1886351477, l.service) else pg_advisory_xact_lock_shared(1886351477, l.service) end
       from (select hashtext(s.name) as service, bool_or(x.outdates is true) as outdates
               from unnest(p_job, v_outdates) as x(job, outdates)
               join postrider.jobs j on j.id = x.job
               join postrider.services s on s.name = j.service and s.cache_mode = 'http'
              group by 1
              order by 1) l;
  end if;
  if v_cached then
    insert into postrider.cache_tallies (service, outcome, jobs)
    select coalesce(j.service, ''), x.cache, count(*)
      from unnest(p_job, p_seq, v_cache) as x(job, seq, cache) join postrider.jobs j on j.id = x.job
     where x.cache is not null and x.seq = any (v_done)
     group by 1, 2;
    perform postrider.cache_settle(
      p_fence, p_job, p_seq, v_done, p_verdict, p_status, p_headers, p_body, v_cache, v_encoding, p_app_version, p_worker,
      p_redirected);
  end if;
  if true = any (v_outdates) then
    -- Whether or not the lease still held: the server has acted.
    perform postrider.cache_outdate(postrider.filled(j), case when s.has_servers then postrider.keyed_service(s, p_worker) else s end, x.headers)
       from unnest(p_job, p_status, p_headers, v_outdates, p_redirected) as x(job, status, headers, outdates, redirected)
       join postrider.jobs j on j.id = x.job
       join postrider.services s on s.name = j.service
      where x.outdates and (x.status between 200 and 399 or x.redirected);
  end if;
  if num_nonnulls(variadic p_cookies) > 0 then
    perform postrider.keep_batch_cookies(p_seq, p_fence, p_job, p_cookies, p_credential, p_version, v_done);
  end if;
  for i in coalesce(array_lower(v_pages, 1), 1) .. coalesce(array_upper(v_pages, 1), 0) loop
    v_page := v_pages[i];
    if v_page.job_id is not null and p_seq[i] = any (v_done) then
      insert into postrider.fetched_pages values (v_page.*);
    end if;
  end loop;
  return v_done;
end
$$;
comment on function postrider.judge(
  int, int[], bigint[], bigint[], "char"[], smallint[], text[], text[], bytea[], bytea[], bigint[],
  int[], int[], int[], int[], int[], text[], text[], boolean[], bigint[], bigint[], bigint[], text, text[],
  int[], "char"[], text[], bigint[], boolean[], boolean[], text[]) is
  'private: finish for jobs that ask more of an answer than its status; returns the seq of each attempt whose lease still held';
