-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.stub_match_defect(p_match jsonb, out path text, out reason text,
                                                                out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  path := '';
  if jsonb_typeof(p_match) <> 'object' then
    reason := 'must be an object';
    hint := 'Like {"method": "GET", "path": "/users/*"}.';
    return;
  end if;
  select d.p, d.r, d.h into path, reason, hint from (
    select postrider_internal.json_path_key(left(k, 100)), 'is not a key of match',
           'The keys are method, path and query; without one, each call fits.', k <> all ('{method,path,query}')
      from jsonb_object_keys(p_match) k
    union all values
    ('.method', 'is not a method', 'Give GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS.',
     p_match ? 'method' and p_match -> 'method' <> all (
       array(select to_jsonb(n) from unnest('{GET,POST,HEAD,PUT,DELETE,PATCH,OPTIONS}'::text[]) n))),
    ('.path', 'is not a path', 'Begin with /, like "/users/*"; * stands for one segment, ** for several.',
     p_match ? 'path' and (jsonb_typeof(p_match -> 'path') <> 'string' or p_match ->> 'path' !~ '^/'
                           or length(p_match ->> 'path') > 2000)),
    ('.path', 'holds a query or fragment', 'Put arguments into query, like {"query": {"page": "2"}}.',
     coalesce(p_match ->> 'path' ~ '[?#]', false)),
    ('.query', 'must be an object of texts and numbers', 'Like {"page": 2}.',
     p_match ? 'query' and (jsonb_typeof(p_match -> 'query') <> 'object' or exists (
       select from jsonb_path_query(p_match, 'lax $.query.keyvalue().value') v
        where jsonb_typeof(v) not in ('string', 'number', 'boolean'))))
    ) as d(p, r, h, bad)
   where d.bad limit 1;
end
$$;
comment on function postrider_internal.stub_match_defect(jsonb) is
  'why the match of a stub is refused, with the path in it, and a hint; reason null: valid';
