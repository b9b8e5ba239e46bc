-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.credential_place(p_kind text, p_place jsonb) returns text[]
language sql immutable parallel safe
as $$
  select case
    when p_place = '{}' then array['nowhere', '', '']
    when p_place ? 'query' then array['query', p_place ->> 'query', '']
    when p_place ? 'form' then array['form', p_place ->> 'form', '']
    when p_place ? 'json' then array['json', p_place ->> 'json', '']
    when p_place ? 'header' then array['header', p_place ->> 'header',
      coalesce(p_place ->> 'prefix', case when p_kind = 'basic' then 'Basic ' else '' end)]
    when p_kind = 'basic' then array['header', 'Authorization', 'Basic ']
    else array['header', 'Authorization', 'Bearer ']
  end
$$;
comment on function postrider_internal.credential_place(text, jsonb) is
  'where a call carries the secret: header, query, form or json, its name and prefix; nowhere: no entry fits';
