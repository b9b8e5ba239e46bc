-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.call_query(p_job jsonb, p_url text, p_service postrider.services) returns text[]
language sql immutable parallel safe
as $$
  select case
    when p_service.query is null or not p_service.apply_to_absolute and p_url ~* '^https?:' then postrider.pairs(p_job)
    else coalesce(postrider.pairs((
           select jsonb_object_agg(s.key, s.value)
             from jsonb_each(p_service.query) s
            where not coalesce(p_job ? s.key, false)
              and not exists (
                    select from string_to_table(substring(p_url from '\?([^#]*)'), '&') a
                     where split_part(a, '=', 1) = s.key))), '{}')
         || coalesce(postrider.pairs(p_job), '{}')
  end
$$;
comment on function postrider.call_query(jsonb, text, postrider.services) is
  'private: name, value, ... to add to a job''s URL: the service''s arguments that neither the job''s query nor its URL has, then the job''s';
