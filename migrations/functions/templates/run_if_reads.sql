-- SPDX-License-Identifier: Apache-2.0
-- For step a, $.a.body.x == 1 && exists($.a ? (@.status == 200)) gives [["body", "x"], [null]]. p_path is the text form
-- of a jsonpath, in which each key is quoted and followed by no space.
create or replace function postrider_internal.run_if_reads(p_path text, p_name text) returns jsonb
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(distinct (w.names - 0) || case when w.more > '' then '[null]' else '[]' end::jsonb), '[]')
    from (select (select jsonb_agg((n.found[1])::jsonb)
                  from regexp_matches(m.found[1], E'("(?:[^"\\\\]|\\\\.)*")', 'g') as n(found)) as names,
                 m.found[2] as more
            from regexp_matches(p_path, E'\\$((?:\\."(?:[^"\\\\]|\\\\.)*")+)([\\[.?]?)|"(?:[^"\\\\]|\\\\.)*"',
                                'g') as m(found)
           where m.found[1] is not null) w
   where w.names ->> 0 = p_name
$$;
comment on function postrider_internal.run_if_reads(text, text) is
  'the parts of a step that a run_if reads, as lists of keys; null at the end: a filter, wildcard or method follows';
