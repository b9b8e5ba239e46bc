-- SPDX-License-Identifier: Apache-2.0
-- Checks one by one, half a millisecond each. For specs that are not inserted now, and to find the path after an INSERT
-- was refused.
create or replace function postrider_internal.spec_values(p_nodes postrider_internal.spec_node[],
                                                          p_is_inside boolean) returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
  v_node postrider_internal.spec_node;
  v_column record;
  v_job postrider.jobs;
  v_values text;
  v_message text;
  v_state text;
  v_hint text;
begin
  foreach v_node in array p_nodes loop
    v_values := '';
    for v_column in
      select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, pg_get_expr(d.adbin, d.adrelid) as base
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
       order by a.attnum
    loop
      if v_node.spec ? v_column.name then
        begin
          execute format('select %s from (values ($1)) s (spec)',
                         postrider_internal.spec_value(v_column.name, v_column.type, null))
            using v_node.spec;
        exception when others then
          if postrider_internal.is_shortage(sqlstate) then
            raise;
          end if;
          get stacked diagnostics v_message = message_text;
          raise exception using errcode = 'PR006',
            message = format('%s.%s: %s', v_node.place, v_column.name, v_message),
            hint = postrider_internal.spec_hint(v_column.name, v_column.type);
        end;
      end if;
      v_values := v_values || ', ' || case v_column.name
        when 'id' then '0'
        when 'kind' then quote_literal(v_node.kind)
        when 'parent_id' then case when v_node.level > 1 or p_is_inside then '0'
          else '(s.spec ->> ''parent_id'')::bigint' end
        when 'position' then coalesce(v_node."position"::text, case when p_is_inside then '1'
                                      else '(s.spec ->> ''position'')::int' end)
        when 'each' then 'null'
        else postrider_internal.spec_value(v_column.name, v_column.type, v_column.base) end;
    end loop;
    execute format('select (row(%s)::postrider.jobs).* from (values ($1)) s (spec)',
                   substr(v_values, 3)) into v_job using v_node.spec;
    begin
      perform postrider_internal.refuse_bad_job(v_job);
    exception when others then
      get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
      raise exception using errcode = v_state, message = regexp_replace(v_message, E'^jobs\\.', v_node.place || '.'),
        hint = v_hint;
    end;
  end loop;
end
$$;
comment on function postrider_internal.spec_values(postrider_internal.spec_node[], boolean) is
  'raises PR006 for a value that its type refuses, PR001 for one that breaks a rule of jobs, both with the path';
