-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.call_headers(p_job jsonb, p_url text, p_service postrider.services) returns text[]
language sql immutable parallel safe
as $$
  select case
    when p_service.headers is null or not p_service.apply_to_absolute and p_url ~* '^https?:' then postrider.pairs(p_job)
    else coalesce(postrider.pairs((
           select jsonb_object_agg(s.key, s.value)
             from jsonb_each(p_service.headers) s
            where not exists (select from jsonb_object_keys(coalesce(p_job, '{}')) k where lower(k) = lower(s.key)))), '{}')
         || coalesce(postrider.pairs(p_job), '{}')
  end
$$;
comment on function postrider.call_headers(jsonb, text, postrider.services) is
  'private: name, value, ... of a call: the service''s headers that the job does not set itself, then the job''s';
