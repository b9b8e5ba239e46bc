-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Runs at the end of the transaction that inserted a batch or chain. It runs once for each, in the order of the
-- INSERTs, so their members may come in any order before. The root begins the batches and chains below it.
create or replace function postrider_internal.trees_begin() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from postrider_internal.members m where m.parent_id = new.job_id)
     and exists (select from postrider.jobs j where j.id = new.job_id and j.each is null) then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'kind',
      message = format('jobs.kind: %s %s has no members', postrider_internal.kind_name(new.kind), new.job_id),
      hint = 'Insert members with this parent_id in the same transaction; skipped duplicates do not count. Keep the constraint trees_begin deferred.';
  end if;
  if new.parent_id is null then
    perform postrider_internal.advance_tree(new, 'due', 'client');
  else
    perform postrider_internal.count_members(new.job_id);
  end if;
  return null;
end
$$;
comment on function postrider_internal.trees_begin() is
  'at commit: raises PR001 for a batch or chain without members, and begins the roots';

-- PostgreSQL cannot replace a constraint trigger, so this file drops it and creates it again.
drop trigger if exists trees_begin on postrider_internal.trees;
create constraint trigger trees_begin
  after insert on postrider_internal.trees
  deferrable initially deferred
  for each row execute function postrider_internal.trees_begin();
