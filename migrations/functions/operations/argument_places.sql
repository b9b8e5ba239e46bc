-- SPDX-License-Identifier: Apache-2.0
-- In reverse order, because removing an element of an array moves the elements behind it.
create or replace function postrider_internal.argument_places(p_columns jsonb)
returns setof postrider_internal.argument_place
language sql immutable parallel safe
as $$
  select t.path, postrider_internal.argument_kind(t.path),
         case when cardinality(t.parts) = 3 and t.parts[1] = '' and t.parts[3] = '' then substr(t.parts[2], 5) end,
         t.parts
    from (select p.path, postrider_internal.template_parts(p.value) as parts, p.place
            from postrider_internal.template_places(p_columns) with ordinality p (path, value, place)) t
   where exists (select from unnest(t.parts) with ordinality e (part, place)
                  where e.place % 2 = 0 and e.part like 'arg.%')
   order by (select array_agg(case when s.step ~ '^[0-9]{1,9}$' then lpad(s.step, 9, '0') else s.step end
                              order by s.place)
               from unnest(t.path) with ordinality s (step, place)) desc
$$;
comment on function postrider_internal.argument_places(jsonb) is
  'the texts of a spec that hold arguments, the last element of each array first';
