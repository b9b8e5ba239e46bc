-- SPDX-License-Identifier: Apache-2.0
-- Works level by level with a few statements each, so ten thousand members take as many statements as two.
--
-- The rank of a node is its index in its level, from 1. The parent of a node is a rank in the level above. Jobs inside
-- the "do" of an each stand last in their level, because insert_spec_jobs leaves them out. So the others have the ranks
-- from 1 on without gaps.
--
-- p_place: the path of the spec in messages, like $. p_defaults: the values that the first job inherits from its batch
-- or chain (see member_defaults).
create or replace function postrider_internal.spec_nodes(p_spec jsonb, p_place text,
                                                         p_defaults jsonb default null,
                                                         p_is_inside boolean default false)
returns postrider_internal.spec_node[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes postrider_internal.spec_node[];
  v_level postrider_internal.spec_node[];
  v_defect record;
begin
  if jsonb_typeof(p_spec) = 'object' and p_spec ? 'operation' then
    p_spec := postrider_internal.expand_operation(p_spec, p_place, p_is_inside or p_defaults is not null);
  end if;
  v_level := array[row(1, null, null, p_place, null, null, false,
    case when p_defaults is null then p_spec else postrider_internal.spec_inherits(p_spec, p_defaults) end,
    null)::postrider_internal.spec_node];
  if jsonb_typeof(p_spec) = 'object' and not p_spec ?| '{chain,batch,kind}' then
    v_level[1].kind := 'request';
    return v_level;
  end if;
  while v_level is not null loop
    select n.place || d.below as place, d.reason, d.hint into v_defect
      from unnest(v_level) with ordinality n (level, parent, "position", place, kind, parent_kind, is_in_each, spec,
                                              each, rank)
     cross join lateral postrider_internal.spec_shape(n.level, n.spec) d
     where d.reason is not null
     order by n.rank limit 1;
    if found then
      raise exception using errcode = 'PR006', message = v_defect.place || ': ' || v_defect.reason,
        hint = v_defect.hint;
    end if;

    v_nodes := v_nodes || array(
      select row(n.level, n.parent, n."position", n.place,
                 case when n.spec ? 'chain' then 'chain' when n.spec ? 'batch' then 'batch' else 'request' end,
                 n.parent_kind, n.is_in_each, n.spec - '{chain,batch,kind}'::text[],
                 case when jsonb_typeof(n.spec -> 'batch') = 'object'
                      then jsonb_build_object('list', n.spec -> 'batch' -> 'each', 'do', n.spec -> 'batch' -> 'do') end
                )::postrider_internal.spec_node
        from unnest(v_level) n);
    -- With offset 0, the columns below and defaults are computed once for each job, not for each of its members.
    v_level := nullif(array(
      select row(p.level + 1, p.rank, c."position", p.place || replace(p.tail, '#', (c."position" - 1)::text), null,
                 p.kind,
                 p.is_in_each, case when p.defaults is null then c.spec
                   else postrider_internal.spec_inherits(c.spec, p.defaults) end, null)::postrider_internal.spec_node
        from (select n.level, n.rank, n.place, case when n.spec ? 'chain' then 'chain' else 'batch' end as kind,
                     case when n.spec ? 'chain' then '.chain[#]'
                          when jsonb_typeof(n.spec -> 'batch') = 'array' then '.batch[#]' else '.batch.do' end as tail,
                     n.is_in_each or coalesce(jsonb_typeof(n.spec -> 'batch') = 'object', false) as is_in_each,
                     case when n.spec ? 'chain' then n.spec -> 'chain'
                          when jsonb_typeof(n.spec -> 'batch') = 'array' then n.spec -> 'batch'
                          else jsonb_build_array(n.spec -> 'batch' -> 'do') end as below,
                     (select jsonb_object_agg(k.key, k.value) from jsonb_each(n.spec) k
                       where k.key in ('queue', 'priority', 'timeout', 'service', 'credential', 'traceparent',
                                       'tracestate')
                         and k.value <> 'null') as defaults
                from unnest(v_level) with ordinality
                     n (level, parent, "position", place, kind, parent_kind, is_in_each, spec, each, rank)
               where n.spec ?| '{chain,batch}'
              offset 0) p
       cross join lateral jsonb_array_elements(p.below) with ordinality e (spec, "position")
       cross join lateral (
             select case when jsonb_typeof(e.spec) = 'object' and e.spec ? 'operation'
                         then postrider_internal.expand_operation(
                           e.spec, p.place || replace(p.tail, '#', (e."position" - 1)::text), true)
                    else e.spec end as spec, e."position" offset 0) c
       order by p.is_in_each, p.rank, c."position"), '{}');
    if cardinality(v_nodes) + coalesce(cardinality(v_level), 0) > 10000
       and exists (select from unnest(v_nodes || v_level) n where n.spec ? 'operation') then
      raise exception using errcode = 'PR006', message = p_place || ': is more than 10000 jobs with its operations',
        hint = 'Split it into several specs.';
    end if;
  end loop;
  return v_nodes;
end
$$;
comment on function postrider_internal.spec_nodes(jsonb, text, jsonb, boolean) is
  'all jobs of a spec level by level, those of an each last; raises PR006 with the path of a wrong shape';
