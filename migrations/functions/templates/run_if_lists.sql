-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- In templates a batch or chain is the list of its results, so a path that continues like a list means that list here.
-- Without this change [0] and .size() would apply to an object: they give the object itself and 1, and the step would
-- be skipped silently.
--
-- Only at the step's turn is the meaning of its names known: prev may be a request or a batch.
--
-- In the text form of a path each key is quoted, and no space stands between a key and the next token.
create or replace function postrider_internal.run_if_lists(p_job bigint, p_run_if jsonpath) returns jsonpath
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part text[];
  v_names text[];
  v_step record;
  v_text text := '';
begin
  if regexp_replace(p_run_if::text, E'"(?:[^"\\\\]|\\\\.)*"', '""', 'g') !~ E'""(?:\\[|\\.(?:size|type)\\(\\))' then
    return p_run_if;
  end if;
  for v_part in
    select m.found
      from regexp_matches(p_run_if::text,
             E'(\\$(?:\\."(?:[^"\\\\]|\\\\.)*")+)(?=\\[|\\.(?:size|type)\\(\\))|("(?:[^"\\\\]|\\\\.)*"|[^"$]+|\\$)',
             'g') as m(found)
  loop
    v_text := v_text || coalesce(v_part[1], v_part[2]);
    continue when v_part[1] is null;
    v_names := array(
      select (n.found[1])::jsonb #>> '{}' from regexp_matches(v_part[1], E'("(?:[^"\\\\]|\\\\.)*")', 'g') as n(found));
    -- The word item is reserved, so no step has this name.
    select s.step, s.is_tree into v_step from postrider_internal.earlier_step(p_job, v_names[1]) s;
    for k in 2 .. cardinality(v_names) loop
      exit when v_step.is_tree is not true;
      select m.job_id as step, m.is_tree into v_step
        from postrider_internal.member_states(v_step.step) m
       where m.name = v_names[k];
    end loop;
    if v_step.is_tree then
      v_text := v_text || '."results"';
    end if;
  end loop;
  return v_text::jsonpath;
end
$$;
comment on function postrider_internal.run_if_lists(bigint, jsonpath) is
  'the run_if of a job, in which a batch or chain before [, .size() or .type() becomes its results';
