-- SPDX-License-Identifier: Apache-2.0
-- To its members a batch or chain shows what the others have returned, and it ends with them. In the words for a job
-- that is not there.
create or replace function postrider_internal.raise_foreign_parent(p_parent bigint, p_created_by text,
                                                                   p_job bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from postrider.jobs j where j.id = p_parent and j.created_by <> p_created_by)
     and not postrider_internal.sees_all(p_created_by) then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'parent_id',
      message = format('jobs.parent_id: job %s does not exist', p_parent), detail = p_job::text,
      hint = 'Give the id of a batch or chain that you have inserted.';
  end if;
end
$$;
comment on function postrider_internal.raise_foreign_parent(bigint, text, bigint) is
  'raises PR001 for a parent that another role has inserted, unless the role sees all jobs; with the id of the job as DETAIL';
