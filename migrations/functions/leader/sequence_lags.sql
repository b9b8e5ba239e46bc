-- SPDX-License-Identifier: Apache-2.0
-- Logical replication copies rows but no sequences, and so does pg_dump --data-only with --table. The next INSERT would
-- then get a number that a row already has. Jobs and rows of ready take their numbers from the same sequence.
--
-- fences is not checked. The first worker that enlists in the copied database finds a restore, and end_restored raises
-- that sequence.
create or replace function postrider_internal.sequence_lags(out sequence text, out last_value bigint,
                                                            out highest bigint, out repair text)
returns setof record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from record;
begin
  for v_from in
    select s.oid::regclass::text as sequence,
           string_agg(format('select max(%I)::bigint as value from %s', a.attname, a.attrelid::regclass),
                      ' union all ') as numbers
      from pg_class s
     cross join lateral (
           select d.refobjid as attrelid, x.attname
             from pg_depend d join pg_attribute x on x.attrelid = d.refobjid and x.attnum = d.refobjsubid
            where d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
            union all
           select 'postrider_internal.ready'::regclass, 'seq' where s.oid = 'postrider.jobs_id_seq'::regclass) a
     where s.relkind = 'S' and s.relnamespace = any (postrider_internal.own_schemas())
     group by s.oid
     order by s.relname
  loop
    sequence := v_from.sequence;
    execute format('select case when s.is_called then s.last_value else s.last_value - 1 end, (select max(n.value) from (%s) n) from %s s',
      v_from.numbers, sequence) into last_value, highest;
    repair := format('select setval(%L, %s)', sequence, highest);
    if highest > last_value then
      return next;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.sequence_lags() is
  'sequences that would repeat the number of a row, the highest number in use, and the statement that repairs them';
