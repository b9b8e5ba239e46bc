-- SPDX-License-Identifier: Apache-2.0
-- Checks an answer beyond its status in this order: charset, JSON, envelope, extract, result_type, validator. The
-- validator checks the whole JSON, not only the part that extract or the envelope select. A worker has checked XML
-- before, for a cached answer when it was stored (is_fit_cache_entry).
--
-- p_is_success: an answer rule takes the answer for a success, so the code of the envelope does not count.
--
-- An answer without a body by its status or method passes all checks except result_type. With an envelope this also
-- holds for an empty body, because such services may answer without a body.
--
-- One block catches all errors that depend on the bytes of the answer, because an answer must never roll back its
-- batch. Apart from the envelope's message, no error quotes the body. The function has no SET clauses, which would cost
-- as much as the rest; the settings of its caller apply.
create or replace function postrider_internal.judge_answer(
  p_job postrider.jobs, p_service postrider.services, p_status int, p_headers bytea, p_body bytea,
  p_is_success boolean default false, out verdict "char", out code text, out error text, out result jsonb,
  out encoding text, out envelope_code text, out error_name text)
language plpgsql stable
as $$
declare
  -- If a rule takes a body that is not JSON for a success, there is no envelope to read.
  v_envelope jsonb := case when not p_is_success or postrider_internal.try_jsonb(p_body) is not null
    then postrider_internal.used_envelope(p_job.use_envelope, p_service.envelope) end;
  v_needs_json boolean := p_job.response_format <> 'xml' and p_job.method <> 'HEAD' and p_job.download_to is null
    and (p_job.response_format = 'json' or p_job.result_type <> 'any' or p_job.require_data is true
         or num_nonnulls(p_job.validator, p_job.extract, v_envelope) > 0);
  v_step text := 'text';
  v_text text;
  v_json jsonb;
  v_outcome record;
  v_source text;                           -- the expression that selected the result; null: none
  v_found text;
  v_state text;
  v_context text;
begin
  verdict := 's';
  if p_job.paginate -> 'end_statuses' @> to_jsonb(p_status) then
    result := '[]';
    return;
  elsif p_status in (204, 205, 304) or v_envelope is not null and coalesce(octet_length(p_body), 0) = 0 then
    if v_needs_json and (p_job.result_type <> 'any' or p_job.require_data) then
      verdict := 'f';
      code := 'no_data';
      error := format('the result should be %s, and the answer has no body (status %s)',
        case p_job.result_type when 'list' then 'a list' when 'object' then 'an object' else 'not empty' end, p_status);
    end if;
    return;
  end if;
  encoding := postrider_internal.answer_charset(p_headers, p_body, v_needs_json or p_job.response_format = 'xml');
  if p_job.response_format = 'xml' and encoding is null then
    encoding := substring(encode(substring(p_body from 1 for 200), 'escape')
      from E'^\\s*<\\?xml[^>]*\\sencoding\\s*=\\s*["'']([A-Za-z][A-Za-z0-9._-]{0,39})["'']');
    encoding := coalesce(lower(encoding collate "C"), 'utf-8');
  end if;
  if not v_needs_json then
    return;
  end if;
  encoding := coalesce(encoding, 'utf-8');

  begin
    v_text := postrider_internal.answer_text(p_body, encoding);
    v_step := 'json';
    v_json := v_text::jsonb;
    if v_json is null then
      raise exception using errcode = 'invalid_text_representation';
    elsif octet_length(v_text) > 2000 and postrider_internal.has_endless_numbers(v_text, v_json) then
      raise exception using errcode = 'numeric_value_out_of_range';
    end if;

    if v_envelope is not null and not p_is_success then
      v_step := 'envelope';
      v_outcome := postrider_internal.envelope_outcome(v_envelope, v_json);
      if v_outcome.code is not null then
        code := v_outcome.code;
        envelope_code := v_outcome.envelope_code;
        error_name := v_outcome.error_name;
        error := v_outcome.error;
        verdict := 'f';
        return;
      end if;
    end if;

    v_step := 'extract';
    if p_job.extract is not null then
      v_source := case when p_job.paginate ? 'items' then 'paginate.items' else 'extract' end;
      result := postrider_internal.path_value(v_json, p_job.extract::jsonpath);
    elsif v_envelope ? 'result' then
      v_source := 'the result of services.envelope';
      result := postrider_internal.path_value(v_json, (v_envelope ->> 'result')::jsonpath);
    else
      result := v_json;
    end if;
    -- A missing result is stored as JSON null, because a null column means that the answer was not judged.
    result := coalesce(result, 'null');

    if p_job.result_type <> 'any' and jsonb_typeof(result) <> replace(p_job.result_type, 'list', 'array') then
      verdict := 'f';
      code := 'no_data';
      error := format('the result should be %s and is %s; %s',
        case p_job.result_type when 'list' then 'a list' else 'an object' end,
        case jsonb_typeof(result) when 'null' then 'missing' when 'array' then 'a list' when 'object' then 'an object'
                                  else 'a ' || jsonb_typeof(result) end,
        case when v_source is not null then format('compare %s with the body', v_source)
             else format('select it in the body with %s', case when p_job.paginate is null then 'extract'
                         else 'paginate.items' end) end);
      result := null;
      return;
    end if;

    -- For a list of pages page_turn checks this, because it knows all pages.
    if p_job.require_data and p_job.paginate is null and result in ('null', '[]', '{}') then
      verdict := 'f';
      code := 'no_data';
      error := format('the result is %s, but the job has require_data; %s',
        case result when 'null' then 'missing' when '[]' then 'an empty list' else 'an empty object' end,
        case when v_source is not null then format('compare %s with the body', v_source) else 'see the body' end);
      result := null;
      return;
    end if;

    if p_job.validator is not null then
      v_step := 'validator';
      v_found := postrider_internal.validator_mismatch(p_job.validator, v_json);
      if v_found is not null then
        verdict := 'f';
        code := 'validator';
        error := v_found || '; the answer does not match the job''s validator';
        result := null;
        return;
      end if;
    end if;

    if pg_column_size(result) > 67108864 then
      verdict := 'f';
      code := 'too_large';
      error := 'the result is larger than 64 MiB as jsonb; extract a part of it, or use download_to';
      result := null;
    end if;
    return;
  exception when others then
    -- A shortage of the database ends no job: the worker judges the answer again later.
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    get stacked diagnostics v_state = returned_sqlstate, v_context = pg_exception_context;
  end;

  verdict := 'f';
  result := null;
  if v_step in ('text', 'json') and p_service.html_is_502 and postrider_internal.is_html(p_headers, p_body) then
    verdict := case when p_job.delivery = 'at_most_once' then 'f' else 'r' end;
    code := 'http_status';
    error := format('the server answered %s with an HTML page instead of JSON, which its service counts as a 502; '
      'look at the body for its reason', p_status);
    return;
  end if;
  code := case v_step when 'text' then 'json_invalid' when 'json' then 'json_invalid'
                      when 'envelope' then 'envelope' when 'validator' then 'validator' else 'no_data' end;
  error := case
    when coalesce(octet_length(p_body), 0) = 0 then 'the answer has no body, but the job needs JSON'
    when v_state = '54001' then 'the JSON is nested too deeply to be read'
    when v_step = 'envelope' then 'the envelope''s paths cannot be applied to the answer; see services.envelope'
    when v_step = 'extract' then format('the path of %s cannot be applied to the answer', v_source)
    when v_step = 'validator' then 'the validator cannot be applied to the answer'
    when v_step = 'text' and v_state = '54000' then 'the body is UTF-16 and larger than the limit of 8 MiB'
    when v_step = 'text' and postrider_internal.charset_encoding(encoding) is null then
      format('the charset %s of the answer is unknown, and its bytes are not UTF-8', encoding)
    when v_step = 'text' then format('the bytes of the body are not valid in the charset %s', encoding)
    when v_state = '22P05' then E'the body is JSON with a character that PostgreSQL cannot hold, like \\u0000'
    when v_state = '22003' then 'the body is JSON with a number that PostgreSQL cannot hold'
    when v_state in ('54000', 'XX000') then 'the JSON is too large to be read'
    else 'the body is not JSON' || coalesce(', see its line ' || substring(v_context from E'JSON data, line ([0-9]+)'),
                                            '') end;
end
$$;
comment on function postrider_internal.judge_answer(postrider.jobs, postrider.services, int, bytea, bytea, boolean) is
  'the outcome of an answer with a good status: s, f or r, with code, sentence, result and charset';
