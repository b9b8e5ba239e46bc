-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Locks the row before it checks whether the owner of the key has ended. If one statement did both and waited for the
-- lock, it would still see the state from before the wait. retry() takes the key again before its job can be claimed.
-- So a transaction that waits for retry() here sees an unfinished job.
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
    -- The leader has just deleted the row.
  end loop;
  if v_holder <> p_job and not postrider_internal.job_has_ended(v_holder) then
    return v_holder;
  end if;
  update postrider_internal.dedupe_keys k set job_id = p_job where k.digest = v_digest;
  return null;
end
$$;
comment on function postrider_internal.take_dedupe_key(text, text, bigint) is
  'takes a dedupe_key of a queue for a job and returns null, or returns the unfinished job that owns it';
