-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Goes through the keys in order, some at a time, and rests at the end. It locks the rows and then checks them again in
-- a later statement, because retry() may have given a key back to its job meanwhile.
create or replace function postrider_internal.prune_dedupe(p_limit int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reached bytea;
  v_last bytea;
  v_seen bigint;
  v_digests bytea[];
  v_gone bigint;
  v_dropped bigint := 0;
begin
  if not exists (select from postrider_internal.dedupe_keys limit 1) then
    return 0;
  end if;
  select s.reached into v_reached from postrider_internal.dedupe_cursor s
    where s.due_at <= clock_timestamp() for update skip locked;
  if not found then
    return 0;
  end if;
  for i in 1 .. 10 loop
    select count(*), (array_agg(k.digest order by k.digest desc))[1],
           array_agg(k.digest) filter (where postrider_internal.job_has_ended(k.job_id))
      into v_seen, v_last, v_digests
      from (select d.digest, d.job_id from postrider_internal.dedupe_keys d
             where d.digest > v_reached order by d.digest limit p_limit) k;
    select array_agg(l.digest) into v_digests
      from (select k.digest from postrider_internal.dedupe_keys k where k.digest = any (v_digests)
            order by k.digest for update skip locked) l;
    delete from postrider_internal.dedupe_keys k
      where k.digest = any (v_digests) and postrider_internal.job_has_ended(k.job_id);
    get diagnostics v_gone = row_count;
    v_dropped := v_dropped + v_gone;
    v_reached := coalesce(v_last, '');
    exit when v_seen < p_limit or v_gone < p_limit / 2;
  end loop;
  update postrider_internal.dedupe_cursor s
     set reached = case when v_seen < p_limit then '' else v_reached end,
         due_at = clock_timestamp() + case when v_seen < p_limit then interval '10 s' else interval '0' end;
  return v_dropped;
end
$$;
comment on function postrider_internal.prune_dedupe(int) is
  'leader: deletes dedupe_keys of ended jobs, checking p_limit, or up to ten times that; returns how many';
