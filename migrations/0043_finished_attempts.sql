-- SPDX-License-Identifier: Apache-2.0
-- What: attempts that have ended travel as one array of rows, not as 25 to 31 arrays with a column each.
-- Why:  to make rows of 25 arrays costs 45 us for each batch and 1.3 for each attempt, of rows 3.5 and 0.1.
-- Cost: functions only.
-- breaking: yes

create type postrider.finished_attempt as (
  track int,
  seq bigint,
  fence bigint,
  job_id bigint,
  verdict "char",
  status smallint,
  code text,
  error text,
  headers bytea,
  body bytea,
  retry_after_ms bigint,
  dns int,
  connect int,
  tls int,
  first_byte int,
  total int,
  ip text,
  http text,
  reused boolean,
  sent bigint,
  received bigint,
  server int,
  health "char",
  credential text,
  version bigint,
  cookies text,
  redirected boolean,
  left_origin boolean,
  landed_at text,
  cache text,
  encoding text,
  result jsonb);
comment on type postrider.finished_attempt is 'private: how one attempt ended, as the worker tells it';
comment on column postrider.finished_attempt.seq is 'with track and fence: its row in ready, and the proof that the attempt was the worker''s';
comment on column postrider.finished_attempt.verdict is 'what becomes of the job; see finish';
comment on column postrider.finished_attempt.retry_after_ms is 'with verdict r the least wait before the next try; with others how long the lane is to be paused';
comment on column postrider.finished_attempt.dns is 'microseconds, like the four after it';
comment on column postrider.finished_attempt.server is 'the one of several servers that was called; null: there are none';
comment on column postrider.finished_attempt.health is 'what the call has shown of its server; see record_server_calls';
comment on column postrider.finished_attempt.credential is 'what the call carried, in this version';
comment on column postrider.finished_attempt.cookies is 'what the call changed in its cookie jar; null: untouched; see store_cookies';
comment on column postrider.finished_attempt.redirected is 'whether the answer is that of another URL, to which a redirect led';
comment on column postrider.finished_attempt.left_origin is 'whether that is one of another origin, which got no token and whose word on it counts for nothing';
comment on column postrider.finished_attempt.landed_at is 'of jobs with paginate, where redirects led';
comment on column postrider.finished_attempt.cache is 'hit, miss or the reason; set by judge, like the two after it';

do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure from pg_proc p
     where p.pronamespace = 'postrider'::regnamespace
       and p.proname in ('finish', 'judge', 'fail_overlong_holds', 'record_server_calls', 'judge_credentials', 'end_cache_flights', 'store_batch_cookies')
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;
