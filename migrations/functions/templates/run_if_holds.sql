-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- A skipped step does not exist for run_if, so a comparison with it is false; exists($.name) shows the difference.
create or replace function postrider_internal.run_if_holds(p_job postrider.jobs, p_is_cheap_only boolean default false,
                                                           out holds boolean, out defect text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_if jsonpath;
  v_path text;
  v_name text;
  v_step record;
  v_keys text[];
  v_object jsonb;
  v_scope jsonb := '{}';
  v_found jsonb;
begin
  holds := p_job.run_if is null;
  if holds then
    return;
  end if;
  if postrider_internal.run_if_names(p_job.run_if::jsonpath) is null then
    defect := 'run_if: a $ is not followed by the name of a step; write it like $.register.status == 201';
    return;
  end if;
  v_run_if := postrider_internal.run_if_lists(p_job.id, p_job.run_if::jsonpath);
  v_path := v_run_if::text;
  -- Reads only the parts that the path names, unless it has a wildcard.
  if regexp_replace(v_path, E'"(?:[^"\\\\]|\\\\.)*"', '""', 'g') !~ E'\\.\\*|keyvalue' then
    v_keys := array(
      select (m.found[1])::jsonb #>> '{}' from regexp_matches(v_path, E'("(?:[^"\\\\]|\\\\.)*")', 'g') as m(found));
  end if;
  foreach v_name in array postrider_internal.run_if_names(p_job.run_if::jsonpath) loop
    if v_name = 'item' then
      v_object := postrider_internal.each_item(p_job.id);
    else
      v_step := postrider_internal.earlier_step(p_job.id, v_name);
      if v_step.step is null and v_name <> 'prev' then
        defect := format('run_if: no earlier step has the name %s; name a step before this job in its chain, '
          'or before its batch or chain', left(v_name, 200));
        return;
      end if;
      v_object := case when v_step.state = 's' then
        postrider_internal.step_object(v_step.step, v_step.is_tree, v_keys,
                                       postrider_internal.run_if_reads(v_path, v_name), p_is_cheap_only) end;
    end if;
    if v_object is not null then
      v_scope := v_scope || jsonb_build_object(v_name, v_object);
    end if;
  end loop;
  v_found := jsonb_path_query_array(v_scope, v_run_if);
  if jsonb_array_length(v_found) > 1 or jsonb_typeof(v_found -> 0) not in ('boolean', 'null') then
    defect := 'run_if: the path returns a value instead of true or false; compare it, like $.register.status == 201';
    return;
  end if;
  holds := coalesce((v_found ->> 0)::boolean, false);
exception
  when sqlstate 'PR009' then
    holds := null;
    defect := 'run_if: ' || sqlerrm;
  -- feature_not_supported: a time with a zone compared with a time without one.
  when data_exception or feature_not_supported or program_limit_exceeded or statement_too_complex or internal_error then
    holds := null;
    defect := format('run_if: the path cannot be applied to the answers of the earlier steps (SQLSTATE %s); '
      'a path without strict skips missing values', sqlstate);
end
$$;
comment on function postrider_internal.run_if_holds(postrider.jobs, boolean) is
  'whether a step runs, by the answers of earlier steps; defect: why this cannot be decided';
