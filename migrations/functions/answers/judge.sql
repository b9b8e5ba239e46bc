-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Replaces finish for jobs with is_rich. Answer rules are asked first. Then it checks an attempt that is a success so
-- far against the demands of its job and service. Then finish stores the result.
--
-- If the cache asked for a 304, the cached answer is used, with its own status. stale_if_error serves at once, not
-- after the last attempt, because a job that accepts old answers prefers one to a wait.
--
-- too_expensive: the judging session gave up on this answer. No expression is evaluated here again.
create or replace function postrider_internal.judge(p_worker int, p_app_version text,
                                                    p_attempts postrider_internal.finished_attempt[],
                                                    out done bigint[], out outcomes text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  i int;
  v_attempt postrider_internal.finished_attempt;
  v_job postrider.jobs;
  v_service postrider.services;
  v_call postrider_internal.cache_flights;
  v_kept record;
  v_answer record;
  v_turn record;
  v_outdates bigint[] := '{}';             -- jobs whose calls may make cached answers invalid
  v_pages postrider_internal.fetched_pages[] := '{}';
  v_page postrider_internal.fetched_pages;
  v_unfit bytea[] := '{}';                 -- keys of cached answers that do not fit their job
  -- By the index of their attempts.
  v_envelope_codes text[];
  v_error_names text[];
  v_rules text[];
  v_token text[];                          -- what a rule says about the token, as in judge_by_rule
  v_rule record;
  v_action text;                           -- of the rule that decided; null: none
  v_has_rules boolean;
  v_is_unfit boolean;
  v_cached boolean := exists (
    select from postrider_internal.cache_flights c
      where c.job_id = any (array(select x.job_id from unnest(p_attempts) x)));
  v_has_credentials boolean := false;
  v_has_cookies boolean := false;
  v_waits boolean := false;                -- p_has_waits of finish
begin
  -- One query for all: three queries for each attempt took longer. It leaves the bodies in p_attempts.
  for v_row in
    select x.place, j as job, s as service, c as call
      from (select x.job_id, x.fence, row_number() over () as place from unnest(p_attempts) x) x
      left join postrider.jobs j on j.id = any (array[x.job_id])
      left join postrider.services s on s.name = j.service
      left join postrider_internal.cache_flights c on c.job_id = x.job_id and c.fence = x.fence and v_cached
  loop
    i := v_row.place; v_attempt := p_attempts[i];
    v_job := v_row.job;
    v_service := v_row.service;
    v_call := v_row.call;
    v_has_credentials := v_has_credentials or v_attempt.credential is not null;
    v_has_cookies := v_has_cookies or v_attempt.cookies is not null;
    v_waits := v_waits or v_attempt.verdict in ('w', 'd', 'l');
    v_action := null;
    v_has_rules := num_nonnulls(v_job.rules, v_job.operation_rules, v_service.rules) > 0;
    if v_attempt.verdict in ('f', 'r', 'u') then
      if v_attempt.code = 'http_status' and v_job.paginate -> 'end_statuses' @> to_jsonb(v_attempt.status)
         and (v_attempt.credential is null
              or not v_attempt.status::int <@ (select c.expired_statuses from postrider.credentials c
                                               where c.name = v_attempt.credential)) then
        -- Such a status means that the list has no further page.
        v_attempt.verdict := 's';
        v_attempt.code := null;
        v_attempt.error := null;
      elsif v_job.paginate is not null then
        -- For a list of pages the answer alone does not show the page number.
        v_attempt.error := v_attempt.error || format(' (page %s)',
          coalesce((select max(p.page) from postrider_internal.fetched_pages p where p.job_id = v_attempt.job_id), 0)
            + 1);
        p_attempts[i].error := v_attempt.error;
      end if;
    end if;
    -- The server may have acted although the job fails. Then cached answers become invalid.
    continue when v_attempt.verdict <> 's' and not v_cached and not v_has_rules
      and (v_attempt.credential is null or v_attempt.code is distinct from 'http_status')
      and not coalesce(v_attempt.status between 200 and 399 or v_attempt.redirected, false);
    v_service.envelope := postrider_internal.used_envelope(v_job.use_envelope, v_service.envelope);
    if v_attempt.server is not null then
      -- Links to further pages are compared with the URL that was called.
      v_service.base_url := coalesce((select t.base_url from postrider_internal.server_routes t
                                      where t.id = v_attempt.server), v_service.base_url);
    end if;
    if v_job.paginate is not null then
      v_job := postrider_internal.page_job(postrider_internal.filled_job(v_job));
    end if;
    if v_cached then
      v_attempt.cache := v_call.reason;
      if v_call.is_conditional and v_attempt.status = 304 and v_attempt.code is distinct from 'too_expensive' then
        select * into v_kept from postrider_internal.revalidated_answer(v_call, v_job, p_app_version,
            v_attempt.headers);
        if v_kept.status is not null and not coalesce(v_attempt.redirected, false) then
          v_attempt.cache := 'revalidated';
          v_attempt.verdict := 's';
          v_attempt.status := v_kept.status;
          v_attempt.headers := v_kept.headers;
          v_attempt.body := v_kept.body;
        else
          v_attempt.verdict := 'r';
          v_attempt.code := 'http_status';
          v_attempt.error := case
            when v_attempt.redirected then 'a redirect led to another URL, which answered 304; the next attempt requests the whole answer'
            else 'status 304, but the cached answer is gone; the next attempt requests the whole answer' end;
        end if;
      end if;
    end if;
    if v_has_rules and (v_call.is_conditional and p_attempts[i].status = 304) is not true then
      v_rule := postrider_internal.judge_by_rule(v_attempt, v_job, v_service);
      if v_rule.label is not null then
        v_attempt := v_rule.attempt;
        v_action := v_rule.action;
        v_rules[i] := v_rule.label;
        v_token[i] := v_rule.token;
        v_envelope_codes[i] := v_rule.envelope_code;
        v_error_names[i] := case when v_attempt.verdict <> 's' then v_rule.name end;
        v_waits := v_waits or v_attempt.verdict in ('w', 'd');
      end if;
    end if;
    if v_action is null and v_attempt.credential is not null and v_attempt.left_origin is not true
      and v_attempt.code = 'http_status' and v_service.envelope ?| array['token_expired', 'logged_out'] then
      select * into v_answer from postrider_internal.token_outcome(v_service.envelope, v_attempt.body) o;
      if v_answer.code is not null then
        v_attempt.verdict := 'f';
        v_attempt.code := v_answer.code;
        v_attempt.error := v_answer.error;
        v_envelope_codes[i] := v_answer.envelope_code;
        v_error_names[i] := v_answer.error_name;
      end if;
    end if;
    if v_attempt.verdict = 's' and v_job.service is not null and v_service.name is null then
      -- Without the service its envelope is unknown, so the answer cannot be judged.
      v_attempt.verdict := 'f';
      v_attempt.code := 'config';
      v_attempt.error := format('service %s was removed during the call, so the answer could not be judged; insert it again and retry the job', v_job.service);
    end if;
    if v_attempt.verdict = 's' then
      select * into v_answer
        from postrider_internal.judge_answer(v_job, v_service, v_attempt.status::int, v_attempt.headers,
                                             v_attempt.body, v_action is not null);
      v_is_unfit := v_attempt.cache = 'revalidated' and v_answer.verdict <> 's';
      if v_is_unfit then
        -- The stored answer may have been a success for another job.
        v_unfit := v_unfit || v_call.key;
        v_answer.error := format('status 304, but the cached answer does not fit this job (%s: %s); the next attempt requests the whole answer',
          v_answer.code, v_answer.error);
        v_answer.verdict := 'r';
        v_answer.code := 'http_status';
        v_answer.encoding := null;
        v_answer.envelope_code := null;
        v_attempt.cache := 'cache_data';
        v_attempt.status := p_attempts[i].status;
        v_attempt.headers := p_attempts[i].headers;
        v_attempt.body := p_attempts[i].body;
      end if;
      v_attempt.verdict := v_answer.verdict;
      v_attempt.code := v_answer.code;
      v_attempt.error := v_answer.error;
      v_attempt.encoding := v_answer.encoding;
      v_attempt.result := v_answer.result;
      if v_answer.envelope_code is not null then
        v_envelope_codes[i] := v_answer.envelope_code;
        v_error_names[i] := v_answer.error_name;
      end if;
      if v_answer.verdict = 'r' and v_is_unfit is not true and v_attempt.server is not null
        and v_attempt.left_origin is not true then
        -- HTML that counts as a 502, unless another origin sent it.
        v_attempt.health := 'f';
      end if;
      if v_job.paginate is not null then
        v_turn := postrider_internal.page_turn(
          v_job, v_service, v_attempt.status::int, v_attempt.headers, v_attempt.body, v_attempt.verdict, v_attempt.code,
          v_attempt.error, v_attempt.result, v_attempt.encoding, v_attempt.landed_at);
        v_attempt.verdict := v_turn.verdict;
        v_attempt.code := v_turn.code;
        v_attempt.error := v_turn.error;
        v_attempt.result := v_turn.result;
        v_pages[i] := v_turn.page;
        if (v_turn.page).job_id is not null or v_turn.code = 'pagination_loop' then
          -- A good page is stored in fetched_pages and in the result. The body of the last page alone would look like
          -- the whole answer.
          v_attempt.body := null;
          v_attempt.encoding := null;
        end if;
      end if;
    end if;
    -- For an at_most_once job a retryable failure is final, so a stale answer may serve then too. The same holds if a
    -- GET or HEAD may have reached the server, because no user needs to know that.
    if v_cached and v_service.stale_if_error is not null and v_attempt.code is distinct from 'too_expensive'
       and v_action is distinct from 'fail'
       and (v_attempt.verdict in ('r', 'w', 'd') or v_attempt.verdict = 'f' and v_job.delivery = 'at_most_once'
            or v_attempt.verdict = 'u' and v_job.method in ('GET', 'HEAD')) then
      select * into v_kept
        from postrider_internal.stale_answer(v_call, v_job, v_service, p_app_version, v_attempt.code,
                                             v_attempt.status::int);
      if v_kept.status is not null then
        select * into v_answer
          from postrider_internal.judge_answer(v_job, v_service, v_kept.status::int, v_kept.headers, v_kept.body);
        if v_answer.verdict = 's' then
          v_attempt.cache := 'stale';
          v_attempt.verdict := 's';
          v_attempt.code := null;
          v_attempt.error := null;
          v_attempt.status := v_kept.status;
          v_attempt.headers := v_kept.headers;
          v_attempt.body := v_kept.body;
          v_attempt.encoding := v_answer.encoding;
          v_attempt.result := v_answer.result;
        end if;
      end if;
    end if;
    p_attempts[i] := v_attempt;
    if v_service.cache_mode = 'http' and v_service.stub is null
       and v_job.method in ('POST', 'PUT', 'PATCH', 'DELETE') then
      v_outdates := v_outdates || v_attempt.job_id;
    end if;
  end loop;
  if v_has_credentials then
    p_attempts := postrider_internal.judge_credentials(p_attempts, v_token);
  end if;
  select f.done, f.outcomes into done, outcomes
    from postrider_internal.finish(p_worker, p_attempts, v_waits) f;
  if v_envelope_codes is not null or v_rules is not null then
    perform postrider_internal.store_attempt_notes(p_attempts, done, v_envelope_codes, v_error_names, v_rules);
  end if;
  if v_cached or v_outdates <> '{}' then
    perform postrider_internal.lock_cached_services(p_attempts, v_outdates);
  end if;
  if v_cached then
    insert into postrider_internal.cache_deltas (service, outcome, jobs)
    select coalesce(j.service, ''), x.cache, count(*)
      from unnest(p_attempts) x join postrider.jobs j on j.id = any (array[x.job_id])
     where x.cache is not null and x.seq = any (done)
     group by 1, 2;
    perform postrider_internal.end_cache_flights(p_worker, p_app_version, p_attempts, done);
    if v_unfit <> '{}' then
      perform postrider_internal.delete_free_cache_entries(v_unfit, false);
    end if;
  end if;
  if v_outdates <> '{}' then
    perform postrider_internal.invalidate_changed_urls(p_worker, p_attempts, v_outdates);
  end if;
  if v_has_cookies then
    perform postrider_internal.store_batch_cookies(p_attempts, done);
  end if;
  for i in coalesce(array_lower(v_pages, 1), 1) .. coalesce(array_upper(v_pages, 1), 0) loop
    v_page := v_pages[i];
    if v_page.job_id is not null and p_attempts[i].seq = any (done) then
      insert into postrider_internal.fetched_pages values (v_page.*);
    end if;
  end loop;
end
$$;
comment on function postrider_internal.judge(int, text, postrider_internal.finished_attempt[]) is
  'finish for jobs with rules for their answers; returns the seq and outcome of each attempt whose lease still held';
