-- SPDX-License-Identifier: Apache-2.0
-- Runs one INSERT for each level with the rights of the caller, so all rules of INSERT hold. Each INSERT names only the
-- columns of that level. PostgreSQL plans a row of values in half the time of a list of nodes.
--
-- Each node already has the values of its batch or chain, so check_new_job adds none. check_new_job could not see
-- whether a key was set to its default value. p_position: the last position in use below p_parent. p_created_by: the
-- role that the jobs belong to; null: the caller.
create or replace function postrider_internal.insert_spec_jobs(
  p_nodes postrider_internal.spec_node[], p_parent bigint, p_position int, p_copies int,
  p_created_by text) returns bigint[]
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level postrider_internal.spec_node[];
  v_columns text;
  v_values text;
  v_above int := 1;
  v_parents bigint[] := array_fill(p_parent, array[p_copies]);
  v_ids bigint[];
  v_roots bigint[];
  v_has_gaps boolean := false;
  v_empty record;
  v_message text;
  v_state text;
  v_hint text;
begin
  if cardinality(p_nodes) > 1 or p_parent is not null or p_nodes[1].spec ? 'parent_id' then
    perform set_config('postrider.inherits', 'off', true);
  end if;
  for v_depth in 1 .. 32 loop
    if cardinality(p_nodes) = 1 then
      exit when v_depth > 1;
      v_level := p_nodes;
    else
      v_level := array(select n from unnest(p_nodes) n where n.level = v_depth and (v_depth = 1 or not n.is_in_each));
      exit when v_level = '{}';
    end if;
    select c.names, c.expressions into v_columns, v_values from postrider_internal.spec_columns(v_level) c;
    begin
      if cardinality(p_nodes) = 1 and p_copies = 1 and p_parent is null and p_created_by is null then
        execute format('insert into postrider.jobs (%s) select %s from (values ($1)) s (spec) returning array[id]',
          substr(v_columns, 3), substr(v_values, 3))
          into v_ids using p_nodes[1].spec;
        perform set_config('postrider.inherits', '', true);
        return v_ids;
      end if;
      execute format(
        'with new as (
           insert into postrider.jobs (kind, each%s%s%s)
           select s.kind, s.each%s%s%s
             from unnest($1) with ordinality
                   s (level, parent, "position", place, kind, parent_kind, is_in_each, spec, each, rank)
            cross join generate_series(1, $2) c (nth)%s
            order by c.nth, s.rank
           returning id)
         select array_agg(id order by id) from new',
        case when v_depth > 1 or p_parent is not null then ', parent_id, "position"' end,
        case when p_created_by is not null then ', created_by' end, v_columns,
        case when v_depth > 1 or p_parent is not null
             then ', $3[(c.nth - 1) * $4 + coalesce(s.parent, 1)], coalesce(s."position", $5 + c.nth)' end,
        case when p_created_by is not null then ', $6' end, v_values,
        case when v_has_gaps then ' where $3[(c.nth - 1) * $4 + coalesce(s.parent, 1)] is not null' end)
        into v_ids using v_level, p_copies, v_parents, v_above, p_position, p_created_by;
    exception when others then
      if postrider_internal.is_shortage(sqlstate) then
        raise;
      end if;
      get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
      -- Checks each job alone and raises with its place. Only errors that need several rows together remain.
      perform postrider_internal.spec_values(v_level, p_parent is not null);
      if v_message not like 'jobs.%' then
        raise;
      end if;
      raise exception using errcode = v_state, hint = v_hint, message = regexp_replace(v_message, '^jobs[.]',
        coalesce(case when v_message like 'jobs.dedupe_key: %'
                 then postrider_internal.spec_duplicate(v_level, v_message) end, p_nodes[1].place) || '.');
    end;
    if coalesce(cardinality(v_ids), 0) < p_copies * cardinality(v_level) then
      -- A job was left out because its dedupe_key is in use. The jobs below it are left out too. The look-up uses the
      -- view, because a client may read only the id of jobs.
      exit when v_depth = 1 and p_parent is null;
      v_has_gaps := true;
      v_ids := array(
        select j.id
          from unnest(v_level) with ordinality s (level, parent, "position", place, kind, parent_kind, is_in_each, spec,
                                                  each, rank)
         cross join generate_series(1, p_copies) c (nth)
          left join (select x.id, x.parent_id, x.position from postrider.job_status x where x.id = any (v_ids)) j
                 on j.parent_id = v_parents[(c.nth - 1) * v_above + coalesce(s.parent, 1)]
                and j.position = coalesce(s."position", p_position + c.nth)
         order by c.nth, s.rank);
      -- Leaving out some members is what the client asked for. If all are left out, the batch or chain is empty.
      select regexp_replace(min(s.place), '[[][0-9]+[]]$', '') as place, s.parent_kind into v_empty
        from unnest(v_level) with ordinality s (level, parent, "position", place, kind, parent_kind, is_in_each, spec,
                                                each, rank)
       cross join generate_series(1, p_copies) c (nth)
       where v_depth > 1 and v_parents[(c.nth - 1) * v_above + s.parent] is not null
       group by c.nth, s.parent, s.parent_kind
      having count(v_ids[(c.nth - 1) * cardinality(v_level) + s.rank]) = 0
       order by c.nth, s.parent limit 1;
      if found then
        raise exception using errcode = 'PR006',
          message = format('%s: all members are left out, because unfinished jobs have their dedupe_keys', v_empty.place),
          hint = format('Wait for the other jobs, or give this %s its own dedupe_key and on_duplicate "skip".',
            v_empty.parent_kind);
      end if;
    end if;
    v_roots := coalesce(v_roots, v_ids);
    v_parents := v_ids;
    v_above := cardinality(v_level);
  end loop;
  perform set_config('postrider.inherits', '', true);
  return v_roots;
end
$$;
comment on function postrider_internal.insert_spec_jobs(postrider_internal.spec_node[], bigint, int, int, text) is
  'inserts the jobs of a spec p_copies times below p_parent; returns the root ids, null where a dedupe_key is in use';
