-- SPDX-License-Identifier: Apache-2.0
-- In a path's text form every key is quoted, and no space stands between a key and what follows it.
create or replace function postrider.run_if_reads(p_path text, p_name text) returns jsonb
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(distinct (w.names - 0) || case when w.more > '' then '[null]' else '[]' end::jsonb), '[]')
    from (select (select jsonb_agg((n.found[1])::jsonb) from regexp_matches(m.found[1], E'("(?:[^"\\\\]|\\\\.)*")', 'g') as n(found)) as names,
                 m.found[2] as more
            from regexp_matches(p_path, E'\\$((?:\\."(?:[^"\\\\]|\\\\.)*")+)([\\[.?]?)|"(?:[^"\\\\]|\\\\.)*"', 'g') as m(found)
           where m.found[1] is not null) w
   where w.names ->> 0 = p_name
$$;
comment on function postrider.run_if_reads(text, text) is
  'private: what a run_if reads of a step: for each mention the keys that follow the name, as a list; null at its end: something else than a key follows';
