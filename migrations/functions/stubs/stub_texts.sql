-- SPDX-License-Identifier: Apache-2.0
-- The worker parses no JSON, so the database writes the body. A text is sent as it is, all other JSON as JSON.
create or replace function postrider_internal.stub_texts(p_stub jsonb) returns text[]
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_body constant jsonb := p_stub -> 'body';
  v_headers constant text[] := postrider_internal.pairs(p_stub -> 'headers');
begin
  return array[coalesce(p_stub ->> 'status', '200'),
               round(coalesce(extract(epoch from postrider_internal.interval_or_null(p_stub -> 'delay')), 0)
                     * 1000)::text,
               coalesce(case jsonb_typeof(v_body) when 'string' then v_body #>> '{}' else v_body::text end, '')]
    || case when v_body is not null and not exists (
              select from jsonb_object_keys(coalesce(p_stub -> 'headers', '{}')) k
               where lower(k collate "C") = 'content-type')
         then array['content-type', case jsonb_typeof(v_body) when 'string' then 'text/plain; charset=utf-8'
                                                              else 'application/json' end]
         else '{}' end
    || coalesce(v_headers, '{}');
end
$$;
comment on function postrider_internal.stub_texts(jsonb) is
  'a stub for the worker: status, delay in milliseconds, body, then name and value of each header';
