-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.restores as
select i.found_at, i.found_by as worker, i.lost_leases, i.unknown_jobs, i.above_id
  from postrider_internal.identities i
 where i.number > 1
 order by i.number;
comment on view postrider.restores is 'one row for each restore of this database that a worker has found';
comment on column postrider.restores.found_at is 'when the first worker registered after the restore';
comment on column postrider.restores.worker is 'host and process of that worker';
comment on column postrider.restores.lost_leases is
  'calls in flight at the time of the backup; their workers may have finished them';
comment on column postrider.restores.unknown_jobs is
  'how many of these calls belong to at_most_once jobs, which ended as unknown; the other jobs run again';
comment on column postrider.restores.above_id is
  'jobs with a higher id have a new first part in their Idempotency-Keys';
