-- SPDX-License-Identifier: Apache-2.0
-- Roles that may insert jobs may read operations. A text with a template or an argument is no literal.
create or replace function postrider_internal.operation_secret(p_spec jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  with recursive walk (path, value, is_request) as (
    select array[]::text[], p_spec, false
    union all
    select w.path || c.key, c.value,
           w.is_request or c.key in ('query', 'headers', 'body_json', 'body_form', 'body_parts', 'url', 'callback_url')
      from walk w
     cross join lateral (
           select o.key, o.value from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value end) o
            union all
           select (a.place - 1)::text, a.value
             from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array'
                                       then w.value end) with ordinality a (value, place)) c
     where not w.is_request or c.key is not null)
  select min(array_to_string(w.path, '.'))
    from walk w
   where w.is_request and jsonb_typeof(w.value) = 'string' and w.value #>> '{}' not like '%{{%'
     and (postrider_internal.is_secret_name((
            select s.step from unnest(w.path) with ordinality s (step, place)
             where s.step !~ '^[0-9]+$' order by s.place desc limit 1))
          or w.path[cardinality(w.path)] in ('url', 'callback_url')
             and (w.value #>> '{}' ~ '^[A-Za-z]+:/*[^/?#]*:[^/?#]*@'
                  or postrider_internal.url_with_masked_query(w.value #>> '{}', '{}') <> w.value #>> '{}'))
      or w.is_request and jsonb_typeof(w.value) = 'object' and w.path && '{body_parts}'
         and postrider_internal.is_secret_name(w.value ->> 'name')
         and concat(w.value ->> 'content', w.value ->> 'base64') not like '%{{%'
$$;
comment on function postrider_internal.operation_secret(jsonb) is
  'the place of a literal secret in the spec of an operation; null: none';
