-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.call_query(p_job jsonb, p_url text, p_common jsonb) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  v_common jsonb := p_common;
begin
  if p_common is null then
    return postrider_internal.pairs(p_job);
  end if;
  if position('?' in p_url) > 0 then
    v_common := postrider_internal.query_without_url_names(p_common, p_url);
  end if;
  if p_job is null then
    return postrider_internal.pairs(v_common);
  end if;
  return postrider_internal.pairs(v_common - array(select k from jsonb_object_keys(p_job) k))
    || postrider_internal.pairs(p_job);
end
$$;
comment on function postrider_internal.call_query(jsonb, text, jsonb) is
  'name, value, ... to add to a URL: service arguments that job and URL lack, then the arguments of the job';
