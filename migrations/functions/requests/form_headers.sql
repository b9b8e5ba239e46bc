-- SPDX-License-Identifier: Apache-2.0
-- Services of JSON APIs often name application/json for all their calls; a form under that name is read by nobody. With
-- parts the worker leaves every such header out.
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
  'what of a service''s headers holds for a form: all but a Content-Type of something else';
