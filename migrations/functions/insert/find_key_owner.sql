-- SPDX-License-Identifier: Apache-2.0
-- after: insert/key_digest.sql
create or replace function postrider_internal.find_key_owner(p_queue text, p_key text) returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select k.job_id from postrider_internal.dedupe_keys k
  where k.digest = postrider_internal.key_digest(p_queue, p_key) $$;
comment on function postrider_internal.find_key_owner(text, text) is
  'the job that last took this dedupe_key; it may have finished';
