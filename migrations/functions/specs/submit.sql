-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.submit(spec jsonb) returns bigint
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes postrider_internal.spec_node[];
begin
  if octet_length(spec::text) > 1048576 then
    raise exception using errcode = 'PR006', message = '$: the spec is larger than 1 MB', hint = 'Split it into several specs.';
  end if;
  v_nodes := postrider_internal.spec_check(spec, '$', false, case when spec ->> 'parent_id' ~ '^[0-9]{1,18}$' then (
    select p.defaults from postrider_internal.parents p where p.id = (spec ->> 'parent_id')::bigint) end);
  if v_nodes[1].kind = 'request' and not v_nodes[1].spec ?| '{url,operation}' then
    raise exception using errcode = 'PR006', message = '$: the spec has no url',
      hint = 'Give at least {"url": "https://…"}.';
  end if;
  if cardinality(v_nodes) > 1 then
    -- After SET CONSTRAINTS ALL IMMEDIATE the root would be checked before its members exist.
    set constraints postrider_internal.trees_begin deferred;
  end if;
  return (postrider_internal.insert_spec_jobs(v_nodes, null, null, 1, null))[1];
end
$$;
comment on function postrider.submit(jsonb) is
  'inserts the jobs of a spec; returns the id of its root, or null if on_duplicate skip left it out';
