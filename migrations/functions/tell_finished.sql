-- SPDX-License-Identifier: Apache-2.0
-- One message for a transaction; 300 ids of 19 digits are 6 kB of the 8 kB that a message may have.
create or replace function postrider.tell_finished(p_jobs bigint[]) returns void
language sql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
  select pg_notify('postrider_finished', string_agg(m.id::text, ',' order by m.place))
    from (select p.id, p.place, (row_number() over (order by p.place) - 1) / 300 as message
            from unnest(p_jobs) with ordinality as p(id, place)
            join postrider.jobs j on j.id = p.id
           where j.notify) m
   group by m.message
$$;
comment on function postrider.tell_finished(bigint[]) is
  'private: NOTIFY postrider_finished with the ids of those of these jobs that asked for it, separated by commas';
