-- SPDX-License-Identifier: Apache-2.0
-- after: clients/fold_clients.sql
-- An error in the count of clients must not stop fold, which also counts job_totals, runs the cache duties and prunes
-- dedupe keys. After an error the ended requests of this call are missing from the counts. So the next count begins
-- with a recount, 10 s later.
--
-- A statement that is cancelled or exceeds its time limit (57014) still ends fold as a whole.
create or replace function postrider_internal.try_fold_clients(p_ended bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from postrider_internal.client_counting c
             where c.failed_at > clock_timestamp() - interval '10 s') then
    return;
  end if;
  begin
    perform postrider_internal.fold_clients(p_ended);
    update postrider_internal.client_counting set failed_at = null, error = null where failed_at is not null;
  exception when others then
    update postrider_internal.client_counting
       set scope = null, seen = null, recounted_from = null, recounted_at = null, failed_at = clock_timestamp(),
         error = sqlerrm;
    raise warning 'the jobs of clients could not be counted: %', sqlerrm;
  end;
end
$$;
comment on function postrider_internal.try_fold_clients(bigint[]) is
  'leader, in fold: runs fold_clients, stores its error in client_counting and raises it as a warning';
