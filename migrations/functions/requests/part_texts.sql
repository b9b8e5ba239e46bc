-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.part_texts(p_parts jsonb) returns text[]
language sql immutable strict parallel safe
as $$
  select array_agg(f.field order by p.place, f.place)
    from jsonb_array_elements(p_parts) with ordinality as p(value, place)
   cross join lateral unnest(array[
           p.value ->> 'name', case when p.value ? 'file' then 'file' else 'bytes' end,
           p.value ->> 'filename', p.value ->> 'type', p.value ->> 'max_bytes']) with ordinality as f(field, place)
$$;
comment on function postrider_internal.part_texts(jsonb) is
  'name, file or bytes, filename, type, max_bytes of each part of a multipart body';
