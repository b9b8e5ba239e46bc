-- SPDX-License-Identifier: Apache-2.0
-- Checks one by one, half a millisecond each. For specs that are not inserted now, and to find the path after an INSERT
-- was refused.
create or replace function postrider_internal.spec_values(p_nodes postrider_internal.spec_node[],
                                                          p_is_inside boolean) returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node postrider_internal.spec_node;
  v_job postrider.jobs;
  v_message text;
  v_state text;
  v_hint text;
begin
  foreach v_node in array p_nodes loop
    v_job := postrider_internal.spec_job(v_node, p_is_inside);
    begin
      perform postrider_internal.refuse_bad_job(v_job);
    exception when others then
      get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
      raise exception using errcode = v_state, message = regexp_replace(v_message, E'^jobs\\.', v_node.place || '.'),
        hint = v_hint;
    end;
  end loop;
end
$$;
comment on function postrider_internal.spec_values(postrider_internal.spec_node[], boolean) is
  'raises PR006 for a value that its type refuses, PR001 for one that breaks a rule of jobs, both with the path';
