-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.preview(spec jsonb)
returns table (place text, method text, url text, headers jsonb, body text, body_kind text, open text[])
language plpgsql stable security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes postrider_internal.spec_node[];
  v_node postrider_internal.spec_node;
  v_is_inside boolean := coalesce(spec -> 'parent_id', 'null') <> 'null';
begin
  v_nodes := postrider_internal.spec_check(spec, '$', false, case when spec ->> 'parent_id' ~ '^[0-9]{1,18}$' then (
    select p.defaults from postrider_internal.parents p where p.id = (spec ->> 'parent_id')::bigint) end);
  perform postrider_internal.spec_values(v_nodes, v_is_inside);
  foreach v_node in array v_nodes loop
    continue when v_node.kind <> 'request';
    return query
    select v_node.place, r.method, r.url, r.headers, r.body, r.body_kind, r.open
      from postrider_internal.preview_request(
             postrider_internal.spec_job(v_node, v_is_inside or v_node.is_in_each),
             (select t.ticket from postrider_internal.service_ticket t)) r;
  end loop;
end
$$;
comment on function postrider.preview(jsonb) is
  'returns the requests that a spec would make, one row each, with *** for secrets; stores nothing';
