-- SPDX-License-Identifier: Apache-2.0
-- planner: generic-plans
-- Checks what a row cannot show: keys, types, places. INSERT checks the values.
create or replace function postrider_internal.spec_check(
  p_spec jsonb, p_place text, p_is_inside boolean, p_defaults jsonb default null) returns postrider_internal.spec_node[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
  v_nodes postrider_internal.spec_node[] := postrider_internal.spec_nodes(
    p_spec, p_place, p_defaults, p_is_inside or coalesce(p_spec -> 'parent_id', 'null') <> 'null');
  v_is_open boolean := p_is_inside or coalesce(p_spec -> 'parent_id', 'null') <> 'null';
  v_defect record;
  v_meant text;
begin
  -- The error text is made only for the first defect; the rest is one check of each key.
  with columns as materialized (
    select a.attname, a.atttypid, a.attndims
      from pg_attribute a
     where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname not in (
         'id', 'kind', 'each', 'created_at', 'created_by', 'operation_revision', 'operation_rules'))
  select d.* into v_defect
    from (select n.rank, n.place, n.kind, k.key, k.value, jsonb_typeof(k.value) as json_type,
          format_type(c.atttypid, -1) as type,
                 case
                   when c.attname is null then 'unknown'
                   when k.value <> 'null' and jsonb_typeof(k.value) <>
                     case when c.atttypid = 'jsonb'::regtype then jsonb_typeof(k.value)
                          when c.atttypid in ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) then 'number'
                          when c.atttypid = 'boolean'::regtype then 'boolean'
                          when c.attndims > 0 then 'array'
                          else 'string' end then 'type'
                   when c.attndims > 0 and k.value <> 'null'
                     and jsonb_path_exists(k.value, 'strict $[*] ? (@.type() != "string")')
                     then 'element'
                   when n.kind <> 'request' and k.key not in (
                     'parent_id', 'position', 'name', 'queue', 'priority', 'run_at', 'expires_at', 'dedupe_key',
                     'on_duplicate',
                     'run_if', 'timeout', 'service', 'credential', 'mode', 'max_parallel', 'on_success', 'on_failure',
                     'callback_url', 'notify', 'traceparent', 'tracestate', 'tag', 'metadata', 'operation',
                     'arguments')
                     then 'request'
                   when k.key in ('mode', 'max_parallel') and n.kind <> 'batch' then 'batch'
                   when k.key in ('parent_id', 'position') and (n.level > 1 or p_is_inside) then 'place'
                   when k.key = 'position' and not v_is_open then 'root'
                   when k.key = 'run_if' and k.value <> 'null'
                     and case when n.level = 1 then p_is_inside or not v_is_open else n.parent_kind <> 'chain' end
                       then 'step'
                   when k.key = 'dedupe_key' and k.value <> 'null' and (n.is_in_each or p_is_inside) then 'each'
                   when k.key = 'name' and k.value in ('"prev"', '"item"', '"results"') then 'name'
                 end as defect
            from unnest(v_nodes) with ordinality
                 n (level, parent, "position", place, kind, parent_kind, is_in_each, spec, each, rank)
           cross join lateral jsonb_each(n.spec) k
            left join columns c on c.attname = k.key) d
   where d.defect is not null
   order by d.rank, d.key limit 1;
  if found then
    if v_defect.defect = 'unknown' then
      v_meant := postrider_internal.spec_key_meant(v_defect.key);
    elsif v_defect.defect = 'element' then
      select v_defect.key || format('[%s]', e.place - 1), jsonb_typeof(e.value) into v_defect.key, v_defect.json_type
        from jsonb_array_elements(v_defect.value) with ordinality e (value, place)
       where jsonb_typeof(e.value) <> 'string' order by e.place limit 1;
    end if;
    raise exception using errcode = 'PR006',
      message = v_defect.place || '.' || v_defect.key || ': ' || case v_defect.defect
        when 'unknown' then 'no such key'
        when 'element' then format('%s is not of type %s', v_defect.json_type, rtrim(v_defect.type, '[]'))
        when 'type' then format('%s is not of type %s', v_defect.json_type, v_defect.type)
        when 'request' then format('is for requests, and this is a %s', v_defect.kind)
        when 'batch' then 'is for batches'
        when 'place' then 'is given by the place in the spec'
        when 'root' then 'is for members of a batch or chain'
        when 'step' then 'is for steps of a chain'
        when 'each' then 'would be the same for every element'
        when 'name' then 'is reserved in templates' end,
      hint = case v_defect.defect
        when 'unknown' then case when v_meant is not null then format('Perhaps you mean %s. ', v_meant) else '' end
          || 'The keys are the columns of postrider.jobs, chain and batch.'
        when 'type' then postrider_internal.spec_hint(v_defect.key, v_defect.type)
        when 'element' then postrider_internal.spec_hint(v_defect.key, v_defect.type)
        when 'request' then 'Give it to the members.'
        when 'batch' then 'Leave it out; only an object with "batch" can have it.'
        when 'place' then 'Leave it out.'
        when 'each' then 'Leave it out.'
        when 'root' then 'Leave it out, or give parent_id.'
        when 'step' then 'Leave it out; a batch can itself be a step that has a run_if.'
        when 'name' then 'Choose another name.' end;
  end if;
  if cardinality(v_nodes) = 1 and not v_is_open then
    return v_nodes;
  end if;

  select d.place, d.name into v_defect
    from (select n.place, n.spec ->> 'name' as name, n.rank,
                 row_number() over (partition by n.level, n.parent, n.spec ->> 'name' order by n.rank) as nth
            from unnest(v_nodes) with ordinality
                 n (level, parent, "position", place, kind, parent_kind, is_in_each, spec, each, rank)
           where n.spec ->> 'name' is not null) d
   where d.nth > 1
   order by d.rank limit 1;
  if found then
    raise exception using errcode = 'PR006',
      message = format('%s.name: a sibling is also named %s', v_defect.place, quote_literal(v_defect.name)),
      hint = 'Give each job its own name; templates refer to a job by its name.';
  end if;
  perform postrider_internal.spec_references(v_nodes, v_is_open);
  perform postrider_internal.spec_values(array(select n from unnest(v_nodes) n where n.is_in_each or p_is_inside),
                                         p_is_inside);
  return v_nodes;
end
$$;
comment on function postrider_internal.spec_check(jsonb, text, boolean, jsonb) is
  'all jobs of a spec; raises PR006 with the path of a defect; p_is_inside: the spec is the "do" of an each';
