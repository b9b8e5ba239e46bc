-- SPDX-License-Identifier: Apache-2.0
-- What finish is to plain jobs, for those that claim called rich: an attempt that the worker takes for a success is
-- held against what its job and service ask of the answer. Then finish does the rest.
--
-- p_cookies: the cookie jar after the call, a line for each cookie as libcurl writes them; null: untouched.
create or replace function postrider.judge(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_verdict "char"[], p_status smallint[],
  p_code text[], p_error text[], p_headers bytea[], p_body bytea[], p_retry_after_ms bigint[],
  p_dns int[], p_connect int[], p_tls int[], p_first_byte int[], p_total int[],
  p_ip text[], p_http text[], p_reused boolean[], p_sent bigint[], p_received bigint[],
  p_job bigint[], p_app_version text, p_cookies text[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_job postrider.jobs;
  v_service postrider.services;
  v_answer record;
  v_cache text[];
  v_encoding text[];
  v_result jsonb[];
  v_done bigint[];
begin
  for i in 1 .. cardinality(p_seq) loop
    continue when p_verdict[i] <> 's';
    select * into v_job from postrider.jobs j where j.id = p_job[i];
    select * into v_service from postrider.services s where s.name = v_job.service;
    select * into v_answer
      from postrider.judge_answer(v_job, v_service, p_status[i]::int, p_headers[i], p_body[i]);
    p_verdict[i] := v_answer.verdict;
    p_code[i] := v_answer.code;
    p_error[i] := v_answer.error;
    v_encoding[i] := v_answer.encoding;
    v_result[i] := v_answer.result;
  end loop;
  v_done := postrider.finish(p_worker, p_track, p_seq, p_fence, p_verdict, p_status, p_code, p_error, p_headers, p_body,
    p_retry_after_ms, p_dns, p_connect, p_tls, p_first_byte, p_total, p_ip, p_http, p_reused, p_sent, p_received,
    v_cache, v_encoding, v_result);
  for i in 1 .. cardinality(p_seq) loop
    if p_cookies[i] is not null and p_seq[i] = any (v_done) then
      perform postrider.keep_cookies(j.service, '', coalesce(r.started_at, now() - interval '1 min'), p_cookies[i])
         from postrider.jobs j left join postrider.results r on r.job_id = j.id
        where j.id = p_job[i];
    end if;
  end loop;
  return v_done;
end
$$;
comment on function postrider.judge(
  int, int[], bigint[], bigint[], "char"[], smallint[], text[], text[], bytea[], bytea[], bigint[],
  int[], int[], int[], int[], int[], text[], text[], boolean[], bigint[], bigint[], bigint[], text, text[]) is
  'private: finish for jobs that ask more of an answer than its status; returns the seq of each attempt whose lease still held';
