-- SPDX-License-Identifier: Apache-2.0
-- Storing locks entries in one order. Invalidating locks the entries of one job after the other. So batches that only
-- store run concurrently, and a batch that invalidates has the entries of the service alone. Without this lock, two
-- batches that did both waited for each other until they timed out.
--
-- p_outdates: jobs whose calls may make cached answers invalid.
create or replace function postrider_internal.lock_cached_services(
  p_attempts postrider_internal.finished_attempt[], p_outdates bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform case when l.outdates then pg_advisory_xact_lock(1886351477, l.service)
    else pg_advisory_xact_lock_shared(1886351477, l.service) end
     from (select hashtext(s.name) as service, bool_or(x.job_id = any (p_outdates)) as outdates
             from unnest(p_attempts) x
             join postrider.jobs j on j.id = any (array[x.job_id])
             join postrider.services s on s.name = j.service and s.cache_mode = 'http'
            group by 1
            order by 1) l;
end
$$;
comment on function postrider_internal.lock_cached_services(postrider_internal.finished_attempt[], bigint[]) is
  'takes the lock of each service whose answers are stored or made invalid';
