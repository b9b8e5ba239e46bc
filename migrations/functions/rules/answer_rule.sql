-- SPDX-License-Identifier: Apache-2.0
-- after: answers/answer_value.sql
-- Reads the answer only as far as the rules need it. The message is one line of at most 500 characters, as for an
-- envelope.
create or replace function postrider_internal.answer_rule(
  p_job postrider.jobs, p_rules jsonb, p_status int, p_headers bytea, p_body bytea,
  out list text, out index int, out rule jsonb, out message text, out wait_ms bigint, out bad_wait text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lists constant jsonb[] := array[p_job.rules, p_job.operation_rules, p_rules];
  v_value record;
  v_body jsonb;
  v_text text;
  v_found record;
  v_wait text;
begin
  if octet_length(p_body) > 0 and p_job.download_to is null and p_job.method <> 'HEAD'
    and jsonb_path_exists(to_jsonb(v_lists), '$[*][*] ? (exists(@.if) || exists(@.error) || exists(@.wait))') then
    v_value := postrider_internal.answer_value(p_headers, p_body, null);
    if v_value.defect is null and (jsonb_typeof(v_value.value) in ('object', 'array')
                                   or postrider_internal.says_json(p_headers)) then
      v_body := v_value.value;
    end if;
    if position('text' in v_lists::text) > 0 then
      begin
        v_text := left(postrider_internal.answer_text(p_body, coalesce(
          postrider_internal.answer_charset(p_headers, p_body, true), 'utf-8')), 65536);
      exception when others then
        -- The bytes are no text.
        if postrider_internal.is_transient_error(sqlstate) then
          raise;
        end if;
      end;
    end if;
  end if;
  begin
    v_found := postrider_internal.rule_match(v_lists, p_status, p_job.method,
      postrider_internal.headers_json(coalesce(p_headers, '')), v_body, v_text);
  exception when others then
    -- Headers that are no text, or together too large for a jsonb. Rules by status still apply.
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    v_found := postrider_internal.rule_match(v_lists, p_status, p_job.method, '{}', null, null);
  end;
  if v_found.list is null then
    return;
  end if;
  list := v_found.list;
  index := v_found.index;
  rule := v_found.rule;
  message := rule ->> 'error';
  v_wait := rule ->> 'wait';
  begin
    if postrider_internal.is_rule_path(message) then
      message := jsonb_path_query_first(v_found.document, message::jsonpath, '{}', true) #>> '{}';
    end if;
    message := nullif(left(btrim(regexp_replace(left(message, 1000), E'[\\x01-\\x20\\x7f-\\x9f]+', ' ', 'g')), 500),
                      '');
    if postrider_internal.is_rule_path(v_wait) then
      v_wait := jsonb_path_query_first(v_found.document, v_wait::jsonpath, '{}', true) #>> '{}';
      wait_ms := postrider_internal.waiting_ms(v_wait, extract(epoch from clock_timestamp()));
      if wait_ms is null then
        bad_wait := regexp_replace(left(v_wait, 40), E'[\\x01-\\x20\\x7f-\\x9f]+', ' ', 'g');
      end if;
    elsif v_wait is not null then
      wait_ms := extract(epoch from least(postrider_internal.interval_or_null(to_jsonb(v_wait)), interval '1 hour'))
        * 1000;
    end if;
  exception when others then
    -- The paths do not fit this answer. That must not roll back its batch.
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    message := null;
  end;
end
$$;
comment on function postrider_internal.answer_rule(postrider.jobs, jsonb, int, bytea, bytea) is
  'the rule that decides an answer, with its message and wait; nulls: no rule fits';
