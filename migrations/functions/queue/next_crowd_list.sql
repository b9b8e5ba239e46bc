-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, no-bitmapscan
-- Hops from INSERT to INSERT by the index intake_crowd, because each INSERT has a different time. It visits the 50
-- oldest.
--
-- If lanes of the list have jobs in earlier lists, the earliest of those lists comes first. Only buckets that overlap
-- this one can have such lists.
create or replace function postrider_internal.next_crowd_list(p_level int, p_held bigint[]) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list record;
  v_first record;
begin
  with recursive inserts as (
    (select i.at, 1 as n from postrider_internal.intake i where i.lane is null and -i.priority::int = p_level
      order by -i.priority::int, i.at limit 1)
    union all
    select a.at, s.n + 1
      from inserts s
     cross join lateral (
           select i.at from postrider_internal.intake i where i.lane is null and -i.priority::int = p_level
             and i.at > s.at
            order by -i.priority::int, i.at limit 1) a
     where s.n < 50)
  select l.* into v_list
    from inserts s
   cross join lateral (
         select i.id, i.is_behind, i.bucket from postrider_internal.intake i
          where i.lane is null and -i.priority::int = p_level and i.at = s.at and i.id <> all (p_held)
          order by -i.priority::int, i.at, i.id limit 1) l
   order by random() limit 1;
  while v_list.is_behind loop
    select i.id, i.is_behind, i.bucket into v_first
      from postrider_internal.intake i
     cross join lateral (
           select max(n) as buckets from unnest(array[1, 16, 256, 4096, 65536]) n
             where n <= least(i.bucket, v_list.bucket)) b
     where i.lane is null and -i.priority::int = p_level and i.id < v_list.id and i.id <> all (p_held)
       and (i.bucket & (b.buckets - 1)) = (v_list.bucket & (b.buckets - 1))
     order by i.id limit 1;
    exit when not found;
    v_list := v_first;
  end loop;
  return v_list.id;
end
$$;
comment on function postrider_internal.next_crowd_list(int, bigint[]) is
  'the next list of several lanes of a priority (-p_level), of a random INSERT, without the given lists; null: no list';
