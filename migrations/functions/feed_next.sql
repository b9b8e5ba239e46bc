-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.feed_next(p_worker int, p_epoch bigint, p_lists int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lists bigint[];
  v_count int;
begin
  -- An INSERT that names many lanes in turn leaves lists of a job or two: then more of them make a turn.
  select least(2000, greatest(p_lists, p_lists * 1000 / greatest(cardinality(i.ids), 1))) into v_count
    from postrider.intake i order by i.priority desc, i.first_id, i.id limit 1;
  if v_count is null then
    return 0;
  end if;
  select array_agg(n.id) into v_lists
    from (select i.id from postrider.intake i
           where postrider.leads(p_worker, p_epoch)
           order by i.priority desc, i.first_id, i.id
           limit v_count
             for update skip locked) n;
  if v_lists is null then
    return 0;
  end if;
  return postrider.feed(v_lists);
end
$$;
comment on function postrider.feed_next(int, bigint, int) is
  'private: leader: feeds the next intake lists, highest priority first, more than p_lists if they are short; how many jobs';
