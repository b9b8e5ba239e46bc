-- SPDX-License-Identifier: Apache-2.0
-- Asks the rules about one whole answer, and decides what they mean for the attempt. The worker has judged the answer
-- by its status before; a rule replaces that.
--
-- The own failure of an answer is its failure without rules. A retry that may not or cannot happen ends with it.
--
-- Without repeatable, an at_most_once job is not sent again.
--
-- token: the effect on the token, for judge_credentials. A rule of the job itself may have been written by a client, so
-- only an admin's rules count. null: as without rules; nothing; refresh, own refresh, final refresh or own final
-- refresh. Final: the job is not sent again.
create or replace function postrider_internal.judge_by_rule(
  p_attempt postrider_internal.finished_attempt, p_job postrider.jobs, p_service postrider.services,
  out attempt postrider_internal.finished_attempt, out label text, out action text, out name text, out token text,
  out envelope_code text)
language plpgsql stable
as $$
declare
  v_found record;
  v_own record;
  v_row record;
  v_within interval;
  v_may_repeat boolean;
  v_is_stub boolean;
begin
  attempt := p_attempt;
  -- Rules see whole answers: a success of the worker, or a failure by the status or the XML.
  if attempt.status is null
     or attempt.verdict <> 's' and attempt.code not in ('http_status', 'http_429', 'xml_invalid') then
    return;
  end if;
  v_found := postrider_internal.answer_rule(p_job, p_service.rules, attempt.status::int, attempt.headers, attempt.body);
  if v_found.list is null then
    return;
  end if;
  action := v_found.rule ->> 'do';
  name := v_found.rule ->> 'name';
  label := concat_ws(' ', format('%s[%s]', v_found.list, v_found.index), name);
  v_may_repeat := p_job.delivery <> 'at_most_once' or coalesce(v_found.rule -> 'repeatable' = 'true', false);
  token := case
    when action = 'refresh' then concat_ws(' ', case when v_found.list = 'job' then 'own' end,
                                           case when not v_may_repeat then 'final' end, 'refresh')
    when action <> 'succeed' or v_found.list = 'job' then 'nothing' end;
  if action = 'succeed' then
    -- Its format is checked later, except for XML, which the worker has checked.
    if attempt.code is distinct from 'xml_invalid' then
      attempt.verdict := 's';
      attempt.code := null;
      attempt.error := null;
    end if;
    if p_attempt.verdict in ('r', 'w', 'd', 'o') then
      attempt.retry_after_ms := null;
    end if;
    return;
  end if;

  attempt.verdict := 'f';
  attempt.code := 'rule';
  attempt.error := concat_ws(': ', name, coalesce(v_found.message,
    format('the answer is a failure by rule %s; look at its body', label)))
    || coalesce('; the wait of the rule cannot be read: ' || v_found.bad_wait, '')
    || case when p_job.paginate is not null then format(' (page %s)', coalesce((
         select max(p.page) from postrider_internal.fetched_pages p where p.job_id = p_job.id), 0) + 1) else '' end;
  if p_attempt.verdict in ('r', 'w', 'd', 'o') then
    attempt.retry_after_ms := null;
  end if;
  if action = 'refresh' then
    attempt.code := 'token_expired';
    attempt.error := format('rule %s judges the token as expired; log in again and retry the job', label);
  elsif action = 'throttle' then
    attempt.retry_after_ms := coalesce(v_found.wait_ms,
      postrider_internal.waiting_ms(postrider_internal.header_value(attempt.headers, 'retry-after'),
                                    extract(epoch from clock_timestamp())),
      p_attempt.retry_after_ms);
    -- The answer of a stub pauses no lane.
    v_is_stub := p_service.stub is not null and exists (
      select from postrider_internal.attempt_notes n
       where n.job_id = attempt.job_id and n.fence = attempt.fence and n.from_stub);
    if v_may_repeat then
      attempt.verdict := case when v_is_stub then 'd' else 'w' end;
    else
      attempt.retry_after_ms := case when not v_is_stub then coalesce(nullif(attempt.retry_after_ms, 0), 1000) end;
    end if;
  elsif action = 'retry' then
    if p_attempt.verdict <> 's' then
      attempt.code := p_attempt.code;
      attempt.error := p_attempt.error;
    else
      v_own := postrider_internal.judge_answer(p_job, p_service, attempt.status::int, attempt.headers, attempt.body);
      if v_own.verdict <> 's' then
        attempt.code := v_own.code;
        attempt.error := v_own.error;
        envelope_code := v_own.envelope_code;
        name := coalesce(name, v_own.error_name);
      end if;
    end if;
    if not v_may_repeat then
      return;
    end if;
    attempt.retry_after_ms := greatest(v_found.wait_ms,
      case when p_attempt.verdict in ('r', 'w', 'd') then p_attempt.retry_after_ms end);
    v_within := postrider_internal.interval_or_null(v_found.rule -> 'within');
    if v_within is not null then
      select r.since, r.attempt into v_row from postrider_internal.ready r
        where r.track = attempt.track and r.seq = attempt.seq and r.fence = attempt.fence;
      if now() + postrider_internal.retry_delay(p_job.backoff, v_row.attempt, attempt.retry_after_ms)
         > coalesce(postrider_internal.first_attempt_at(attempt.job_id), v_row.since) + v_within then
        attempt.retry_after_ms := null;
        attempt.error := attempt.error || format('; rule %s allows no attempt later than %s after the first', label,
                                                 v_within);
        return;
      end if;
    end if;
    attempt.verdict := 'r';
  end if;
end
$$;
comment on function postrider_internal.judge_by_rule(postrider_internal.finished_attempt, postrider.jobs,
                                                     postrider.services) is
  'the attempt as the first matching rule decides it, with the label of the rule; label null: no rule decides';
