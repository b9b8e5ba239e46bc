-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.tables_of_jobs() returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array['past_attempts', 'envelope_errors', 'attempt_notes', 'fetched_pages', 'callback_failures', 'webhooks',
         'filled_templates', 'hook_starts', 'members', 'trees']
$$;
comment on function postrider_internal.tables_of_jobs() is
  'the tables, besides jobs and results, whose rows (by job_id) are deleted with their job, in order of deletion';
