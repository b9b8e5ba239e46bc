-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- If a body claims to be JSON and cannot be read, the step that reads it fails. Otherwise the step would be skipped, or
-- a batch would have no members. p_takes_text: the step takes the whole body, so its text is enough.
--
-- result follows the same rules as in job_status. A body in another charset than UTF-8 is JSON for a template, but has
-- no result.
create or replace function postrider_internal.answer_parts(p_job bigint, p_parts text[],
                                                           p_takes_text boolean default false,
                                                           p_is_cheap_only boolean default false) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result postrider_internal.results;
  v_value jsonb;
  v_answer record;
  v_parts jsonb := '{}';
begin
  select r.* into v_result from postrider_internal.results r
    where r.job_id = p_job and (r.state = 's' or r.state = 'f' and r.status_code is not null);
  if not found then
    return null;
  end if;
  perform postrider_internal.leave_to_judging(
    ('body' = any (p_parts) or 'result' = any (p_parts))
    and (octet_length(v_result.body) > 65536 or pg_column_size(v_result.result) > 32768), p_is_cheap_only);
  -- A failed request has an answer but no result.
  if v_result.state <> 's' then
    p_parts := array_remove(p_parts, 'result');
  end if;
  if 'body' = any (p_parts) or 'result' = any (p_parts) and v_result.result is null then
    if octet_length(v_result.body) > 16777216 then
      raise exception using errcode = 'PR009',
        message = format('the answer of job %s is larger than 16 MiB; give that job an extract and use its result',
                         p_job);
    end if;
  end if;
  if 'result' = any (p_parts) then
    v_value := coalesce(v_result.result, postrider_internal.result_json(v_result.headers, v_result.body));
    if v_value is not null then
      v_parts := jsonb_build_object('result', v_value);
    end if;
  end if;
  if 'body' = any (p_parts) or 'result' = any (p_parts) and v_value is null
     and postrider_internal.claims_json(coalesce(v_result.headers, ''), v_result.body) then
    v_answer := postrider_internal.answer_value(v_result.headers, v_result.body, v_result.encoding);
    if v_answer.defect is not null and not ('body' = any (p_parts) and p_takes_text) then
      raise exception using errcode = 'PR009',
        message = format('the answer of job %s %s; its server has to send valid JSON', p_job, v_answer.defect);
    end if;
    if 'body' = any (p_parts) and v_answer.value is not null then
      v_parts := v_parts || jsonb_build_object('body', v_answer.value);
    end if;
  end if;
  if 'status' = any (p_parts) and v_result.status_code is not null then
    v_parts := v_parts || jsonb_build_object('status', v_result.status_code);
  end if;
  if 'headers' = any (p_parts) and v_result.headers is not null then
    v_parts := v_parts || jsonb_build_object('headers', (
      select jsonb_object_agg(lower(h.key collate "C"), h.value -> 0)
        from jsonb_each(postrider_internal.headers_json(v_result.headers)) h));
  end if;
  return v_parts;
end
$$;
comment on function postrider_internal.answer_parts(bigint, text[], boolean, boolean) is
  'parts of a request that was answered, as far as they exist: body, status, headers, result; null: no answer';
