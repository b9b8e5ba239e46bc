-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.spec_texts(p_spec jsonb, p_each jsonb, out below text,
                                                         out value text) returns setof record
language sql immutable parallel safe
as $$
  select '.' || c.key, s.value
    from jsonb_each(p_spec) c
   cross join lateral postrider_internal.json_strings(c.value) s (value)
   where c.key in ('url', 'query', 'headers', 'body_json', 'body_form', 'body_parts') and s.value like '%{{%'
   union all
  select '.arguments.' || t, p_spec -> 'arguments' ->> t
    from jsonb_object_keys(case jsonb_typeof(p_spec -> 'argument_types') when 'object' then p_spec -> 'argument_types'
                           else '{}' end) t
   where jsonb_typeof(p_spec -> 'arguments') = 'object'
   union all
  select '.batch.each', s.value from postrider_internal.json_strings(p_each -> 'list') s (value)
    where s.value like '%{{%'
$$;
comment on function postrider_internal.spec_texts(jsonb, jsonb) is
  'the texts of a job in a spec that hold templates, with their paths';
