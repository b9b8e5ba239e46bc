-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- The row is locked before anybody looks whether its holder has ended: a lock that is waited for inside of one
-- statement would leave that statement with the state of before. retry() takes the key again before its job can be
-- claimed, so who waits for it here sees an unfinished job.
create or replace function postrider_internal.take_dedupe_key(p_queue text, p_key text, p_job bigint) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_digest bytea := postrider_internal.key_digest(p_queue, p_key);
  v_holder bigint;
begin
  loop
    insert into postrider_internal.dedupe_keys (digest, job_id) values (v_digest, p_job) on conflict do nothing;
    if found then
      return null;
    end if;
    select k.job_id into v_holder from postrider_internal.dedupe_keys k where k.digest = v_digest for update;
    exit when found;
    -- The leader has just dropped it.
  end loop;
  if v_holder <> p_job and not postrider_internal.job_has_ended(v_holder) then
    return v_holder;
  end if;
  update postrider_internal.dedupe_keys k set job_id = p_job where k.digest = v_digest;
  return null;
end
$$;
comment on function postrider_internal.take_dedupe_key(text, text, bigint) is
  'takes a queue''s dedupe_key for a job and returns null; or the unfinished job that has it';
