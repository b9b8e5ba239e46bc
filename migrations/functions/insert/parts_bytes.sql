-- SPDX-License-Identifier: Apache-2.0
-- Without streamed files, and without the boundaries and headers between the parts.
create or replace function postrider_internal.parts_bytes(p_parts jsonb) returns bigint
language sql immutable strict parallel safe
as $$
  select sum(octet_length(p.value ->> 'name') + coalesce(octet_length(p.value ->> 'filename'), 0)
             + coalesce(octet_length(p.value ->> 'type'), 0) + coalesce(octet_length(p.value ->> 'content'), 0)
             + coalesce(octet_length(decode(p.value ->> 'base64', 'base64')), 0))
    from jsonb_array_elements(p_parts) p (value)
$$;
comment on function postrider_internal.parts_bytes(jsonb) is 'how many bytes the parts of a multipart body have';
