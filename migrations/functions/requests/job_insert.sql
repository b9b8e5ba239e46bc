-- SPDX-License-Identifier: Apache-2.0
-- The row is compared with a row of defaults, or with the row that its operation would make. Only columns that differ
-- are written. Templates are filled, and secrets are ***.
--
-- The new job stands alone and runs at once. So times, the place in a batch or chain, and keys that only one job may
-- have are left out.
create or replace function postrider_internal.job_insert(p_id bigint, p_ticket bytea) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  j postrider.jobs;
  b postrider.jobs;                        -- what an INSERT without the columns below would store
  c record;
  v_columns text[] := '{}';
  v_values text[] := '{}';
  v_value text;
begin
  select * into j from postrider.jobs x
   where x.id = p_id and x.kind = 'request'
     and p_ticket is not distinct from (select postrider_internal.ticket(k.secret, p_id)
                                          from postrider_internal.ticket_key k);
  if not found or postrider_internal.job_is_templated(j)
     and not exists (select from postrider_internal.filled_templates d where d.job_id = p_id) then
    return null;
  end if;
  execute (select format('select (row(%s)::postrider.jobs).*',
                         string_agg(coalesce(pg_get_expr(d.adbin, d.adrelid), 'null'), ', ' order by a.attnum))
             from pg_attribute a
             left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped) into b;
  if j.operation is not null then
    begin
      b.operation := j.operation;
      b.arguments := j.arguments;
      b := postrider_internal.apply_operation(b);
    exception when sqlstate 'PR001' then
      -- The operation has changed or is gone. The columns of the request stand in the row.
      j.operation := null;
      j.arguments := null;
    end;
    b.operation := null;
    b.arguments := null;
  end if;
  j := postrider_internal.masked_job(postrider_internal.filled_job(j), '***', '***');
  b := postrider_internal.masked_job(b, '***', '***');
  j.arguments := postrider_internal.masked_json(j.arguments);
  j.metadata := postrider_internal.masked_json(j.metadata);
  j.callback_url := postrider_internal.url_with_masked_query(
    postrider_internal.url_with_masked_login(j.callback_url, '***'), '{}');
  for c in
    select a.attname as name, t.typcategory in ('N', 'B') as is_plain
      from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname <> all ('{id,kind,parent_id,position,name,run_at,expires_at,dedupe_key,on_duplicate,run_if,each,
         created_at,created_by,operation_revision,operation_rules,argument_types}'::name[])
     order by a.attnum
  loop
    execute format('select case when ($1).%1$I is distinct from ($2).%1$I then ($1).%1$I::text end', c.name)
       into v_value using j, b;
    continue when v_value is null;
    v_columns := v_columns || quote_ident(c.name);
    v_values := v_values || case
      when c.is_plain then v_value
      when c.name = 'body' and postrider_internal.bytes_text(j.body) <> v_value
        then format('convert_to(%s, ''UTF8'')', quote_literal(postrider_internal.bytes_text(j.body)))
      else quote_literal(v_value) end;
  end loop;
  return format(E'insert into postrider.jobs (%s)\nvalues (%s)\nreturning id;', array_to_string(v_columns, ', '),
                array_to_string(v_values, E',\n        '));
end
$$;
comment on function postrider_internal.job_insert(bigint, bytea) is
  'the INSERT of a job like this one, with *** for secrets; null for batches, chains and unfilled templates';
