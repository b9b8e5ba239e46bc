-- SPDX-License-Identifier: Apache-2.0
-- planner: generic-plans
-- If some jobs leave out a column or give null, they get its default. Uses the generic plan, because planning for each
-- call would take five times its run time.
create or replace function postrider_internal.spec_columns(p_nodes postrider_internal.spec_node[], out names text,
                                                           out expressions text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
begin
  if cardinality(p_nodes) = 1 then
    select string_agg(', ' || quote_ident(a.attname), ''),
           string_agg(', ' || postrider_internal.spec_value(a.attname, format_type(a.atttypid, a.atttypmod), null), '')
      into names, expressions
      from jsonb_each(p_nodes[1].spec) k
      join pg_attribute a on a.attrelid = 'postrider.jobs'::regclass and a.attname = k.key
     where k.value <> 'null';
    return;
  end if;
  select string_agg(', ' || quote_ident(a.attname), ''),
         string_agg(', ' || postrider_internal.spec_value(a.attname, format_type(a.atttypid, a.atttypmod),
           case when k.given < cardinality(p_nodes) then pg_get_expr(d.adbin, d.adrelid) end), '')
    into names, expressions
    from (select k.key, count(*) filter (where k.value <> 'null') as given
            from unnest(p_nodes) n cross join lateral jsonb_each(n.spec) k
           group by k.key) k
    join pg_attribute a on a.attrelid = 'postrider.jobs'::regclass and a.attname = k.key
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum;
end
$$;
comment on function postrider_internal.spec_columns(postrider_internal.spec_node[]) is
  'the columns that jobs of a spec give, and the SQL that reads each from s.spec, both with leading commas';
