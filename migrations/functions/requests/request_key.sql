-- SPDX-License-Identifier: Apache-2.0
-- The same facts as in enlist and claim. Only rows of ready that left their first place can have a new key.
create or replace function postrider_internal.request_key(
  p_job bigint, out key_prefix text, out key_header text, out rekey smallint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select i.id from postrider_internal.identities i
                    where i.number > 1 and i.above_id < p_job order by i.number desc limit 1), s.installation)::text,
         s.idempotency_header,
         coalesce((select r.rekey from postrider_internal.results r where r.job_id = p_job),
                  (select o.rekey from postrider_internal.outcomes o where o.job_id = p_job),
                  (select w.rekey from postrider_internal.scheduled w where w.job_id = p_job),
                  (select q.rekey from postrider_internal.ready q where q.job_id = p_job and q.seq <> q.job_id),
                  (select m.rekey from postrider_internal.members m where m.job_id = p_job), 0)::smallint
    from postrider.settings s
$$;
comment on function postrider_internal.request_key(bigint) is
  'from what the Idempotency-Key of a job is made: first part, header, and number of new keys';
