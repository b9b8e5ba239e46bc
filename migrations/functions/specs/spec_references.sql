-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- A name is valid if a step with that name ends before this one begins. Such a step is an earlier sibling in a chain,
-- or one of the parent, and so on up. Above the root nothing is known: with p_is_open the name may exist there.
create or replace function postrider_internal.spec_references(p_nodes postrider_internal.spec_node[],
                                                              p_is_open boolean) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place text;
  v_reason text;
  v_hint text;
begin
  if p_nodes::text not like '%{{%' and not exists (select from unnest(p_nodes) n where n.spec ? 'run_if') then
    return;
  end if;

  with recursive nodes as materialized (
    select n.level, n.parent, n."position", n.place, n.kind, n.parent_kind, n.is_in_each, n.spec, n.each,
           n.spec ->> 'name' as name, row_number() over (partition by n.level order by n.rank)::int as rank
      from unnest(p_nodes) with ordinality n (level, parent, "position", place, kind, parent_kind, is_in_each, spec,
                                              each, rank)
  ), found as materialized (
    select distinct n.level, n.rank, n.is_in_each, n.place || t.below as place, m.part[1] as template
      from nodes n
     cross join lateral postrider_internal.spec_texts(n.spec, n.each) t
     cross join lateral regexp_matches(t.value, E'(\\{\\{\\{\\{|\\{\\{[^{}]*\\}\\})', 'g') m (part)
     where n.level > 1 or p_is_open or n.kind <> 'request'
  ), wanted as materialized (
    select f.level, f.rank, f.is_in_each, f.place, w.name
      from found f
      join (select d.template, w.name
              from (select distinct f.template from found f where f.template <> '{{{{') d
             cross join lateral unnest(postrider_internal.template_names(d.template)) w (name)) w using (template)
    union
    select n.level, n.rank, n.is_in_each, n.place || '.run_if', w.name
      from nodes n
     cross join lateral unnest(postrider_internal.spec_run_if_names(n.spec ->> 'run_if')) w (name)
     where n.spec ->> 'run_if' is not null
  ), climb as (
    select w.level as of_level, w.rank as of_rank, w.name, n.level, n.parent, n."position", n.parent_kind
      from (select distinct w.level, w.rank, w.name from wanted w) w join nodes n using (level, rank)
    union all
    select c.of_level, c.of_rank, c.name, n.level, n.parent, n."position", n.parent_kind
      from climb c join nodes n on n.level = c.level - 1 and n.rank = c.parent
  ), seen as (
    select u.level, u.rank, u.name, bool_or(u.is_before) as is_before, bool_or(u.is_beside) as is_beside,
           bool_or(u.is_self) as is_self
      from (select c.of_level, c.of_rank, c.name, s.parent_kind = 'chain' and s."position" < c."position",
                   s.parent_kind = 'batch', s."position" = c."position"
              from climb c join nodes s on s.level = c.level and s.parent = c.parent and s.name = c.name
             union all
            select c.of_level, c.of_rank, c.name, true, false, false
              from climb c
             where c.name = 'prev' and c.parent_kind = 'chain' and c."position" > 1) u (level, rank, name, is_before,
                 is_beside, is_self)
     group by 1, 2, 3
  )
  select w.place,
         case when w.name = 'item' then '{{item}} is used outside of an each'
              when w.name = 'prev' then 'prev is used, but no step precedes this job'
              when s.is_self then format('%s is this job itself, or a batch or chain that contains it',
                                          quote_literal(w.name))
              when s.is_beside then format('%s runs at the same time, not before', quote_literal(w.name))
              when s.level is not null then format('%s is a later step', quote_literal(w.name))
              else format('no step %s precedes this job', quote_literal(w.name)) end,
         case when w.name = 'item' then '{{item}} is the element, in the "do" of {"each": [...], "do": {...}}.'
              else 'Name an earlier step of the chain, or a step before the batch or chain that contains this job.' end
    into v_place, v_reason, v_hint
    from wanted w
    left join seen s using (level, rank, name)
   where s.is_before is not true and not (w.name = 'item' and w.is_in_each) and not (p_is_open and s.level is null)
   order by w.level, w.rank, w.place limit 1;
  if found then
    raise exception using errcode = 'PR006', message = v_place || ': ' || v_reason, hint = v_hint;
  end if;
end
$$;
comment on function postrider_internal.spec_references(postrider_internal.spec_node[], boolean) is
  'raises PR006 for a template or run_if in a spec that names no earlier ended step';
