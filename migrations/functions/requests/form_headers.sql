-- SPDX-License-Identifier: Apache-2.0
-- Services of JSON APIs often set application/json for all their calls, but servers do not read a form with this type.
-- For parts the worker removes each such header.
create or replace function postrider_internal.form_headers(p_headers jsonb) returns jsonb
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select p_headers - array(
    select h.key from jsonb_each(p_headers) h
     where lower(h.key collate "C") = 'content-type'
       and h.value::text !~* E'^\\[?"\\s*application/x-www-form-urlencoded')
$$;
comment on function postrider_internal.form_headers(jsonb) is
  'the headers of a service that are valid for a form: all except a Content-Type of another type';
