-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Evicts the least recently used entries without an index on last_used, which each recorded use would have to update.
-- When the cache is too large, it samples 500 pages. From them it computes the time of last use up to which entries
-- must go (cache_cursor.before), so that the cache becomes a tenth smaller than allowed.
--
-- Then it scans 2000 pages a second and deletes these entries. Up to 500 pages (some 10,000 entries) the order is
-- exact. When the scan has reached the last page, `before` is null again.
--
-- It also deletes rows of cache_varies, which distinguish the variants of an answer, by the time of the last answer.
-- They go after thirty days in any case, because entries may also be deleted elsewhere. If a variant still exists then,
-- the server is called once more.
create or replace function postrider_internal.cache_evict() returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max bigint := (select s.cache_max_bytes from postrider.settings s);
  v_bytes numeric;
  v_cursor postrider_internal.cache_cursor;
  v_pages bigint;
  v_count bigint;
begin
  select * into v_cursor from postrider_internal.cache_cursor;
  delete from postrider_internal.cache_varies v
   where v.key = any (array(
           select o.key from postrider_internal.cache_varies o
            where o.stored_at < greatest(v_cursor.before - interval '1 h', now() - interval '30 days')
            order by o.stored_at limit 5000
              for update skip locked));
  if v_cursor.before is null then
    select coalesce(sum(t.bytes), 0) into v_bytes
      from (select c.bytes from postrider_internal.cache_totals c union all select y.bytes
            from postrider_internal.cache_deltas y) t;
    if v_bytes <= v_max then
      return 0;
    end if;
  end if;
  v_pages := pg_relation_size('postrider.cache_entries') / current_setting('block_size')::int;
  if v_cursor.before is null then
    with seen as materialized (
      select e.last_used, sum(e.bytes) over (order by e.last_used) as before, sum(e.bytes) over () as whole
        from postrider.cache_entries e tablesample system (least(100, 50000.0 / greatest(v_pages, 1))))
    select min(s.last_used) into v_cursor.before from seen s
     where s.before >= s.whole * (v_bytes - 0.9 * v_max) / v_bytes;
    v_cursor.page := 0;
  end if;
  with gone as (
    delete from postrider.cache_entries e
     where e.ctid = any (array(
             select o.ctid from postrider.cache_entries o
              where o.ctid >= format('(%s,0)', v_cursor.page)::tid
                and o.ctid < format('(%s,0)', v_cursor.page + 2000)::tid
                and o.last_used <= v_cursor.before
                for update skip locked))
    returning e.service, e.bytes),
  noted as (
    insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
    select g.service, 'evicted', count(*), -count(*), -sum(g.bytes) from gone g group by g.service)
  select count(*) into v_count from gone;
  update postrider_internal.cache_cursor w
     set before = case when v_cursor.page + 2000 < v_pages then v_cursor.before end, page = v_cursor.page + 2000;
  return v_count;
end
$$;
comment on function postrider_internal.cache_evict() is
  'keeps the cache within settings.cache_max_bytes, one part at a time; returns how many entries it removed';
