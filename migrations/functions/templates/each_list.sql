-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- The list is an array, which may hold templates, or one template whose value is a list. template_parts returns the
-- templates at even places. All values together have at most 16 MiB, as in fill_templates. If the list is an array,
-- fill_json allows 1 MB for its filled texts.
create or replace function postrider_internal.each_list(p_job postrider.jobs, p_is_cheap_only boolean default false,
                                                        out items jsonb, out defect text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := p_job.each -> 'list';
  v_templates text[];
  v_values jsonb := '{}';
  v_parts text[];
begin
  select array_agg(distinct p.part) into v_templates
    from postrider_internal.template_places(v_list) l
   cross join lateral unnest(postrider_internal.template_parts(l.value)) with ordinality as p(part, place)
   where p.place % 2 = 0;
  if v_templates is not null then
    v_values := postrider_internal.template_values(
      p_job.id, v_templates, array_fill('each'::text, array[cardinality(v_templates)]), 16777216,
      p_is_cheap_only);
  end if;
  if jsonb_typeof(v_list) = 'array' then
    items := postrider_internal.fill_json('each', v_list, v_values, 'j');
  else
    v_parts := postrider_internal.template_parts(v_list #>> '{}');
    if jsonb_typeof(v_list) = 'string' and cardinality(v_parts) = 3 and v_parts[1] = '' and v_parts[3] = '' then
      items := v_values -> v_parts[2];
    end if;
    if jsonb_typeof(items) is distinct from 'array' then
      defect := case
        when items is null then 'each: the list is neither an array nor one template; write it like "{{list.body.ids}}"'
        else format('each: {{%s}} is not a list but %s; check the answer and correct the template', v_parts[2],
               case jsonb_typeof(items) when 'object' then 'an object' when 'null' then 'null'
                 else 'a ' || jsonb_typeof(items) end) end;
    end if;
  end if;
  if defect is null and jsonb_array_length(items) > 10000 then
    defect := format('each: the list has %s elements, and 10000 are allowed; fetch it in parts',
                     jsonb_array_length(items));
  end if;
  if defect is not null then
    items := null;
  end if;
exception
  when sqlstate 'PR009' then
    items := null;
    defect := sqlerrm;
  -- internal_error: PostgreSQL reports "invalid memory alloc request size" with this code.
  when data_exception or program_limit_exceeded or statement_too_complex or internal_error then
    items := null;
    defect := format('each: the list cannot be read (SQLSTATE %s); it may be too large or nested too deeply', sqlstate);
end
$$;
comment on function postrider_internal.each_list(postrider.jobs, boolean) is
  'the elements for which a batch makes members, at most 10000, with templates filled; defect: why there are none';
