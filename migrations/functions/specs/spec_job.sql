-- SPDX-License-Identifier: Apache-2.0
-- A member gets 0 as parent_id, because its parent does not exist yet.
create or replace function postrider_internal.spec_job(p_node postrider_internal.spec_node,
                                                       p_is_inside boolean) returns postrider.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
  v_column record;
  v_job postrider.jobs;
  v_values text := '';
  v_message text;
begin
  for v_column in
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, pg_get_expr(d.adbin, d.adrelid) as base
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
     order by a.attnum
  loop
    if p_node.spec ? v_column.name then
      begin
        execute format('select %s from (values ($1)) s (spec)',
                       postrider_internal.spec_value(v_column.name, v_column.type, null))
          using p_node.spec;
      exception when others then
        if postrider_internal.is_shortage(sqlstate) then
          raise;
        end if;
        get stacked diagnostics v_message = message_text;
        raise exception using errcode = 'PR006',
          message = format('%s.%s: %s', p_node.place, v_column.name, v_message),
          hint = postrider_internal.spec_hint(v_column.name, v_column.type);
      end;
    end if;
    v_values := v_values || ', ' || case v_column.name
      when 'id' then '0'
      when 'kind' then quote_literal(p_node.kind)
      when 'parent_id' then case when p_node.level > 1 or p_is_inside then '0'
        else '(s.spec ->> ''parent_id'')::bigint' end
      when 'position' then coalesce(p_node."position"::text, case when p_is_inside then '1'
                                    else '(s.spec ->> ''position'')::int' end)
      when 'each' then 'null'
      else postrider_internal.spec_value(v_column.name, v_column.type, v_column.base) end;
  end loop;
  execute format('select (row(%s)::postrider.jobs).* from (values ($1)) s (spec)',
                 substr(v_values, 3)) into v_job using p_node.spec;
  return v_job;
end
$$;
comment on function postrider_internal.spec_job(postrider_internal.spec_node, boolean) is
  'the row of jobs that a job of a spec becomes; raises PR006 with the path of a value that its type refuses';
