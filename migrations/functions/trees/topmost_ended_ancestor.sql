-- SPDX-License-Identifier: Apache-2.0
-- The one below the first ancestor that has not ended: there retry lets it join again. One that succeeded runs again
-- for the members that failed in it; one that was cancelled, expired or skipped, or of unknown outcome, is left to a
-- person.
create or replace function postrider_internal.topmost_ended_ancestor(p_job bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint := p_job;
  v_state "char" := 'f';
  v_tree record;
begin
  loop
    select t.job_id, t.state into v_tree
      from postrider_internal.trees t
        where t.job_id = (select m.parent_id from postrider_internal.members m where m.job_id = v_id);
    exit when not found or postrider_internal.is_open_tree(v_tree.state);
    v_id := v_tree.job_id;
    v_state := v_tree.state;
  end loop;
  return case when v_state in ('f', 's') then v_id end;
end
$$;
comment on function postrider_internal.topmost_ended_ancestor(bigint) is
  'the topmost of a failed member''s batches and chains that has ended, or itself: what a retry of it is to name; null if that has not failed';
