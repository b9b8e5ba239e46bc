-- SPDX-License-Identifier: Apache-2.0
-- RFC 9111 section 5.2: names in any case, values as tokens or quoted. If a directive occurs twice, the first counts.
create or replace function postrider_internal.cache_control(p_text text) returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(d.name, d.value), '{}')
    from (select distinct on (1) lower(m.part[1] collate "C") as name,
                 coalesce(regexp_replace(m.part[2], E'\\\\(.)', E'\\1', 'g'), m.part[3], '') as value
            from regexp_matches(
                   p_text, E'(?:^|,)\\s*([!#$%&''*+.^_`|~0-9A-Za-z-]+)\\s*(?:=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^,"\\s]*)))?\\s*(?=,|$)', 'g')
                 with ordinality as m(part, place)
           order by 1, m.place) d
$$;
comment on function postrider_internal.cache_control(text) is
  'the directives of a Cache-Control header as an object: lower-case name to value, empty text without a value';
