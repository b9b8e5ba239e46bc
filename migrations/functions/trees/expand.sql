-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
create or replace function postrider_internal.expand(p_batch bigint, p_items jsonb) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch postrider.jobs;
  v_count int := jsonb_array_length(p_items);
  v_ids bigint[];
begin
  if v_count = 0 then
    return 0;
  end if;
  select * into v_batch from postrider.jobs j where j.id = p_batch;
  insert into postrider_internal.exempt_inserts (batch_id) values (p_batch);
  v_ids := postrider_internal.insert_spec_jobs(
    postrider_internal.spec_nodes(v_batch.each -> 'do', '$.batch.do', postrider_internal.member_defaults(v_batch),
                                  true),
    p_batch,
    (select coalesce(max(m.position), 0) from postrider_internal.members m where m.parent_id = p_batch), v_count,
    v_batch.created_by);
  delete from postrider_internal.exempt_inserts e where e.batch_id = p_batch;
  update postrider_internal.members m
     set item = i.value
    from (select l.spot, i.value
            from unnest(v_ids) with ordinality j (id, place)
            join jsonb_array_elements(p_items) with ordinality i (value, place) using (place)
           cross join lateral (select x.ctid as spot from postrider_internal.members x
                               where x.job_id = j.id offset 0) l) i
   where m.ctid = i.spot;
  return v_count;
end
$$;
comment on function postrider_internal.expand(bigint, jsonb) is
  'inserts the members of a batch over a list, from "do" for each element, and returns how many elements';
