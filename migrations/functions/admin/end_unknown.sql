-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- For a restored database: an at_most_once job that the backup shows as not called may have been called after it.
create or replace function postrider.end_unknown(before timestamptz) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint;
  v_count bigint := 0;
begin
  perform postrider_internal.raise_null_argument('before', end_unknown.before is null,
                                                 'Give the moment of the restore, like now().');
  for v_id in
    select j.id from postrider.jobs j
     where j.delivery = 'at_most_once' and j.created_at < end_unknown.before
       and not exists (select from postrider_internal.results r where r.job_id = j.id)
       and not exists (select from postrider_internal.outcomes o where o.job_id = j.id)
       and not exists (select from postrider_internal.ready r where r.job_id = j.id and r.worker > 0)
     order by j.id
  loop
    v_count := v_count + postrider_internal.cancel_any(v_id,
      'the database was restored; it is not known whether the job was called after the backup')::int;
  end loop;
  return v_count;
end
$$;
comment on function postrider.end_unknown(timestamptz) is
  'after a restore: ends at_most_once jobs as unknown if they were inserted before this time and do not run; returns '
  'how many';
