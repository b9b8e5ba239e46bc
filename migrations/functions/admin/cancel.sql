-- SPDX-License-Identifier: Apache-2.0
-- Runs as the caller, whose name the view tickets compares. cancel_job runs as the owner and cannot identify the
-- caller.
create or replace function postrider.cancel(id bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('id', cancel.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  return postrider_internal.cancel_job(cancel.id,
                                       (select t.ticket from postrider_internal.tickets t where t.id = cancel.id));
end
$$;
comment on function postrider.cancel(bigint) is
  'cancels an unfinished job and all jobs below it; running calls stop within a second; returns false if it had ended';
