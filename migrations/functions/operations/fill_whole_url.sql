-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.fill_whole_url(
  p_place postrider_internal.argument_place, p_columns jsonb, p_value jsonb) returns text
language plpgsql stable
as $$
declare
  v_node jsonb := p_columns #> p_place.path[: cardinality(p_place.path) - 1];
  v_service postrider.services;
  v_use_cdn boolean := coalesce((v_node ->> 'use_cdn')::boolean, false);
begin
  if p_value is null or p_value = 'null' then
    perform postrider_internal.raise_argument_error(p_place, p_place.whole, 'is missing');
  end if;
  select s.* into v_service from postrider.services s
   where s.name = coalesce(v_node ->> 'service', p_columns ->> 'service');
  return postrider_internal.fill_url(
    format('{{arg.%s}}', p_place.whole), v_use_cdn, v_service, array(
      select t.base_url from postrider_internal.server_routes t
       where t.service = v_service.name and not (v_use_cdn and v_service.cdn_url is not null)),
    jsonb_build_object('arg.' || p_place.whole, p_value));
exception when sqlstate 'PR009' then
  perform postrider_internal.raise_argument_error(p_place, p_place.whole,
    'is neither a path nor a URL of the service, or cannot be called');
  return null;
end
$$;
comment on function postrider_internal.fill_whole_url(postrider_internal.argument_place, jsonb, jsonb) is
  'a URL that is one whole argument; raises PR001 if it leads to another origin than the service';
