-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.part_bodies(p_parts jsonb) returns bytea[]
language sql immutable strict parallel safe
as $$
  select array_agg(case
           when p.value ? 'base64' then decode(p.value ->> 'base64', 'base64')
           else convert_to(coalesce(p.value ->> 'file', p.value ->> 'content'), 'UTF8')
         end order by p.place)
    from jsonb_array_elements(p_parts) with ordinality as p(value, place)
$$;
comment on function postrider_internal.part_bodies(jsonb) is
  'the bytes of each part of a multipart body; for a file its path';
