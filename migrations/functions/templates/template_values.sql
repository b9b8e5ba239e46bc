-- SPDX-License-Identifier: Apache-2.0
-- p_limit: bytes that the values may have together. If a template has no value, this raises PR009 for the first one.
-- The message begins with its place (of p_places) and shows the template, never a value.
create or replace function postrider_internal.template_values(
  p_job bigint, p_templates text[], p_places text[], p_limit bigint, p_is_cheap_only boolean default false)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text[];
  v_place text;
  v_step record;
  v_steps bigint[] := '{}';                -- the step of each template; null: item
  v_parts text[] := '{}';                  -- the part of the step
  v_rest int[] := '{}';                    -- the index in the path at which the path inside the part begins
  v_at int;
  v_loaded bigint[] := '{}';
  v_objects jsonb[] := '{}';
  v_value jsonb;
  v_values jsonb[] := '{}';
  v_total bigint := 0;
begin
  for i in 1 .. cardinality(p_templates) loop
    v_path := postrider_internal.template_path(p_templates[i]);
    v_place := format('%s: {{%s}}', p_places[i], p_templates[i]);
    if v_path is null then
      raise exception using errcode = 'PR009',
        message = v_place || ' cannot be read; write the name of a step and the path to the value';
    end if;
    if v_path[1] = 'item' then
      v_steps := v_steps || null::bigint;
      v_parts := v_parts || 'item'::text;
      v_rest := v_rest || 2;
      continue;
    end if;
    v_step := postrider_internal.earlier_step(p_job, v_path[1]);
    if v_step.step is null then
      raise exception using errcode = 'PR009', message = v_place || case v_path[1]
        when 'prev' then ': no step precedes this job'
        else format(': no earlier step has the name %s; name a step before this job in its chain, or before its batch or chain',
                    left(v_path[1], 200)) end;
    end if;
    v_at := 2;
    while v_step.is_tree and v_path[v_at] is not null and v_path[v_at] <> 'results' and v_step.state = 's' loop
      -- A number is an index of the results, unless it stands in quotes and a member has that name.
      exit when v_path[v_at] ~ E'^-?[0-9]+$'
        and (not postrider_internal.template_quotes(p_templates[i], v_at)
             or not exists (select from postrider_internal.members m
                            where m.parent_id = v_step.step and m.name = v_path[v_at]));
      select m.job_id as step, m.is_tree, m.state into v_step
        from postrider_internal.member_states(v_step.step) m
       where m.name = v_path[v_at];
      if not found then
        raise exception using errcode = 'PR009',
          message = format('%s: %s has no member with the name %s; its results are {{%s.results}}', v_place,
                           array_to_string(v_path[:v_at - 1], '.'), left(v_path[v_at], 200),
                           array_to_string(v_path[:v_at - 1], '.'));
      end if;
      v_at := v_at + 1;
    end loop;
    -- A batch in mode settle goes on after a failed member. If the member got an answer, templates may read it.
    if v_step.state is distinct from 's'
       and not (v_step.state = 'f' and not v_step.is_tree
                and exists (select from postrider_internal.results r
                            where r.job_id = v_step.step and r.status_code is not null)) then
      raise exception using errcode = 'PR009',
        message = format('%s has no value: job %s %s; see explain(%s)', v_place, v_step.step,
        case v_step.state when 'k' then 'was skipped' when 'f' then 'failed' when 'c' then 'was cancelled'
          when 'e' then 'expired' when 'u' then 'ended with an unknown outcome' else 'has not ended' end, v_step.step);
    end if;
    v_steps := v_steps || v_step.step;
    v_parts := v_parts || case
      when v_step.is_tree then 'results'
      when v_path[v_at] is null or v_path[v_at] ~ E'^-?[0-9]+$' then 'result'
      else v_path[v_at] end;
    if not v_step.is_tree and v_parts[i] not in ('body', 'status', 'headers', 'result') then
      raise exception using errcode = 'PR009',
        message = format('%s: a request has body, status, headers and result, not %s', v_place,
                         left(v_path[v_at], 200));
    end if;
    v_rest := v_rest || v_at + coalesce(v_path[v_at] = v_parts[i], false)::int;
  end loop;

  for i in 1 .. cardinality(p_templates) loop
    v_place := format('%s: {{%s}}', p_places[i], p_templates[i]);
    v_path := postrider_internal.template_path(p_templates[i]);
    v_at := array_position(v_loaded, coalesce(v_steps[i], 0));
    if v_at is null then
      v_loaded := v_loaded || coalesce(v_steps[i], 0);
      begin
        v_objects := v_objects || case v_parts[i]
          when 'item' then (select jsonb_build_object('item', e) from postrider_internal.each_item(p_job) e
                            where e is not null)
          when 'results' then jsonb_build_object(
            'results', postrider_internal.tree_results(v_steps[i], p_is_cheap_only))
          else postrider_internal.answer_parts(v_steps[i], array(
                 select p.part from unnest(v_steps, v_parts) as p(step, part) where p.step = v_steps[i]), not exists (
                 select from unnest(v_steps, v_parts, p_templates, v_rest, p_places) as p(step, part, template, rest,
                     place)
                  where p.step = v_steps[i] and p.part = 'body'
                    and ((postrider_internal.template_path(p.template))[p.rest] is not null or p.place = 'each')),
                 p_is_cheap_only) end;
      exception when sqlstate 'PR009' then
        raise exception using errcode = 'PR009', message = v_place || ': ' || sqlerrm;
      end;
      v_at := cardinality(v_objects);
    end if;
    v_value := v_objects[v_at] -> v_parts[i];
    if v_parts[i] = 'headers' and v_path[v_rest[i]] is not null then
      v_path[v_rest[i]] := lower(v_path[v_rest[i]] collate "C");
    end if;
    if v_path[v_rest[i]] is not null then
      v_value := v_value #> v_path[v_rest[i]:];
    end if;
    if v_value is null then
      raise exception using errcode = 'PR009', message = v_place || case
        when v_steps[i] is null and v_objects[v_at] is null then ': the job was not made by each, so it has no item'
        when v_steps[i] is null then ' has no value: the element of each has no such member'
        when v_parts[i] = 'result' and v_objects[v_at] -> 'result' is null
          then format(': job %s has no result, because it failed or its answer is not JSON; use its body',
                      v_steps[i])
        else format(' has no value: check the answer of job %s and correct the template', v_steps[i]) end;
    end if;
    v_total := v_total + pg_column_size(v_value);
    if v_total > p_limit then
      raise exception using errcode = 'PR009',
        message = format('%s is too large: values take at most %s in one job; take a part of it', v_place,
                         pg_size_pretty(p_limit));
    end if;
    v_values := v_values || v_value;
  end loop;
  return (select jsonb_object_agg(v.template, v.value) from unnest(p_templates, v_values) as v(template, value));
end
$$;
comment on function postrider_internal.template_values(bigint, text[], text[], bigint, boolean) is
  'the values of the given templates in a job, as an object; raises PR009 if one has no value';
