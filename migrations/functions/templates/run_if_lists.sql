-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- In templates a batch or chain is the list of its results. So a path to a batch or chain means that list too, if [,
-- .size() or .type() follows. Without this change [0] and .size() would apply to an object. They would give the object
-- itself and 1, and the step would be skipped silently.
--
-- The meaning of a name is known only at the step's turn: prev may be a request or a batch.
--
-- The regular expressions rely on the text form of a jsonpath. It quotes each key, and has no space between a key and
-- the next token.
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
  -- Group 1 is a path before [, .size() or .type(). Group 2 is any other text. It takes a quoted text whole, so no path
  -- inside of quotes is changed.
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
    -- $.item is the element of an each. The word is reserved, so earlier_step finds no step of this name.
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
