-- SPDX-License-Identifier: Apache-2.0
-- Members can read what other members of their batch or chain returned, and they end with it. So no other role may
-- join. The message is the same as for a job that does not exist.
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
  'raises PR001 if another role inserted the parent, unless the caller''s role sees all jobs';
