-- SPDX-License-Identifier: Apache-2.0
-- The result is the job below the first ancestor that is still open; retry can make it join again. An ancestor that
-- succeeded runs again for its failed members. If it was cancelled, expired, skipped or unknown, a user must decide.
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
  'the topmost ended ancestor of a failed member, or the member, for retry; null if that did not fail or succeed';
