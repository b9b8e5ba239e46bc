-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Runs once a second on the leader. Without work it costs five reads of empty tables.
create or replace function postrider_internal.run_cache_duties() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_folded bigint;
  v_keys bytea[];
begin
  -- Counters. The fold starts after the last folded id. While an old transaction is open, folded rows stay in the table
  -- as dead rows, and reading them takes time.
  with gone as (
    delete from postrider_internal.cache_deltas t
     where t.ctid = any (array(
             select x.ctid from postrider_internal.cache_deltas x
              where x.id > (select w.folded from postrider_internal.cache_cursor w)
              order by x.id limit 10000 for update skip locked))
    returning t.*),
  summed as (
    insert into postrider_internal.cache_totals as t (service, outcome, jobs, entries, bytes)
    select g.service, g.outcome, sum(g.jobs), sum(g.entries), sum(g.bytes) from gone g group by 1, 2
        on conflict (service, outcome) do update
       set jobs = t.jobs + excluded.jobs, entries = t.entries + excluded.entries, bytes = t.bytes + excluded.bytes)
  select max(g.id) into v_folded from gone g;
  if v_folded is not null then
    -- Rows that are committed late may have lower ids, so now and then the fold starts from the beginning.
    update postrider_internal.cache_cursor w set folded = case when v_folded % 16 = 0 then 0 else v_folded end;
  end if;

  -- Calls whose job is no longer running. The jobs that wait for them are released.
  with void as (
    delete from postrider_internal.cache_flights c
     where c.ctid = any (array(
             select o.ctid from postrider_internal.cache_flights o
              where o.at < clock_timestamp() - interval '1 s'
                and not exists (
                      select from postrider_internal.ready r
                       where r.track = o.track and r.seq = o.seq and r.fence = o.fence and r.worker > 0 offset 0)
              order by o.key
                for update skip locked))
    returning c.key, c.leads)
  select array_agg(v.key order by v.key) filter (where v.leads) into v_keys from void v;
  if v_keys is not null then
    perform postrider_internal.release_cache_waits(v_keys, array_fill(false, array[cardinality(v_keys)]));
  end if;
  delete from postrider_internal.uncacheable_keys p where p.until < clock_timestamp();
  delete from postrider_internal.cache_waits w where w.run_at < now() - interval '1 min';
  -- Does the same for credentials: removes jobs that were cancelled or expired while they waited for a token.
  delete from postrider_internal.credential_waits w
   where w.ctid = any (array(
           select x.ctid from postrider_internal.credential_waits x
             where x.run_at < now() - interval '1 min' for update skip locked));

  -- Entries to invalidate that were locked before. If a row is still locked, its key stays recorded.
  select array_agg(distinct o.key) into v_keys from postrider_internal.pending_invalidations o;
  if v_keys is not null then
    perform postrider_internal.delete_free_variants(v_keys);
    delete from postrider_internal.pending_invalidations o
     where o.key = any (v_keys)
       and not exists (select from postrider.cache_entries e where e.key = o.key)
       and not exists (select from postrider_internal.cache_varies v where v.key = o.key);
  end if;

  perform postrider_internal.cache_evict();
end
$$;
comment on function postrider_internal.run_cache_duties() is
  'leader, once a second: folds cache counters, ends abandoned calls, invalidates and evicts entries';
