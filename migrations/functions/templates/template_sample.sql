-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.template_sample(p_url text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(case when p.place % 2 = 0 then 'x' else p.part end, '' order by p.place)
      from unnest(postrider_internal.template_parts(p_url)) with ordinality as p(part, place));
end
$$;
comment on function postrider_internal.template_sample(text) is
  'a URL with an x for each template, to check the parts that no value changes';
