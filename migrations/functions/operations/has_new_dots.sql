-- SPDX-License-Identifier: Apache-2.0
-- A segment of dots that the operation itself has may stay.
create or replace function postrider_internal.has_new_dots(p_url text, p_parts text[]) returns boolean
language sql immutable parallel safe
as $$
  select exists (
    select from string_to_table(substring(p_url from '^[^?#]*'), '/') with ordinality f (segment, place)
     where f.segment ~* E'^(\\.|%2e){1,2}$'
       and f.segment is distinct from split_part(substring((
             select string_agg(case when e.place % 2 = 1 then e.part else 'x' end, '' order by e.place)
               from unnest(p_parts) with ordinality e (part, place)) from '^[^?#]*'), '/', f.place::int))
$$;
comment on function postrider_internal.has_new_dots(text, text[]) is
  'whether values have made a path segment . or .. in a URL, whose text had the given template_parts';
