-- SPDX-License-Identifier: Apache-2.0
-- The names of files and types as libcurl writes them. The content of a file is not read.
create or replace function postrider_internal.parts_preview(p_parts jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format(E'--preview\r\nContent-Disposition: form-data; name="%s"%s\r\n%s\r\n%s\r\n',
           p.value ->> 'name', coalesce('; filename="' || coalesce(
             p.value ->> 'filename', regexp_replace(p.value ->> 'file', '^.*/', '')) || '"', ''),
           coalesce('Content-Type: ' || coalesce(p.value ->> 'type', case when p.value ?| '{file,filename}'
                                                 then 'application/octet-stream' end) || E'\r\n', ''),
           case when p.value ? 'file' then format('(the file %s)', p.value ->> 'file')
                when p.value ? 'base64' then postrider_internal.bytes_text(decode(p.value ->> 'base64', 'base64'))
                else coalesce(p.value ->> 'content', '') end), '' order by p.place) || E'--preview--\r\n'
    from jsonb_array_elements(p_parts) with ordinality p (value, place)
$$;
comment on function postrider_internal.parts_preview(jsonb) is
  'a multipart body with the boundary preview and the paths of files instead of their content';
