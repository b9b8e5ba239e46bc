-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
-- Walks back from the newest job by the index that serves the most of the filter, and tests the other conditions on
-- each row. It looks at p_window rows of that index, or at all rows if p_window is null.
--
-- reached: no job with an id of at least `reached` is missing in the answer, and older ones may match. The next page
-- passes it as p_before. Null: all older jobs have been looked at.
--
-- The look-ups are lateral with `offset 0`. Otherwise the planner would read all jobs of a rare service first.
--
-- With many tracks, the newest ready jobs of each are many rows. So the walk over ready jobs looks at p_window ids,
-- from the newest ready job on. A short list of all ready jobs of a queue needs no walk.
--
-- No index has the queue of scheduled and waiting jobs. With a window it is a condition on each row. A queue without
-- such jobs took 0.6 s before, next to 200,000 scheduled jobs of other queues.
create or replace function postrider_internal.find_jobs(
  p_filter jsonb, p_before bigint, p_limit int, p_window int, out ids bigint[], out reached bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text := p_filter ->> 'state';
  v_queue text := case when jsonb_array_length(p_filter -> 'queue') = 1 then p_filter -> 'queue' ->> 0 end;
  v_before bigint := coalesce(p_before, 9223372036854775807);
  v_window int := coalesce(p_window, 2147483647);
  v_is_live boolean := coalesce(v_state in ('waiting', 'scheduled', 'ready', 'running'), false);
  v_served text[] := array['state', case when v_queue is null or v_state in ('scheduled', 'waiting')
                                           and p_window is not null then 'state' else 'queue' end];
  v_from bigint := 0;
  v_live bigint[];
  v_key text;                              -- the condition on an index of jobs
  v_source text;                           -- the ids of another index
  v_id text := 'c.id';
  v_rows text;
  v_joins text := '';
begin
  if v_is_live then
    if p_filter - v_served = '{}' and (v_state <> 'ready' or p_window is null or p_limit < 500) then
      v_window := p_limit + 1;
    elsif v_state = 'ready' and p_window is not null then
      select greatest(n.id - p_window + 1, 0) into v_from
        from postrider_internal.newest_of_state(v_state, v_queue, 1, p_before) n;
    end if;
    v_live := array(
      select n.id
        from postrider_internal.newest_of_state(v_state, case when 'queue' = any (v_served) or v_state = 'ready' then
               v_queue end, v_window, p_before, coalesce(v_from, 0)) n);
    v_source := 'select x.id from unnest($1) x (id)';
  elsif p_filter ? 'tag' then
    v_key := format('j.tag = %L', p_filter ->> 'tag');
  elsif v_state = 'succeeded' and coalesce(v_queue, 'default') = 'default' then
    v_source := format('select r.job_id as id from postrider_internal.results r where r.job_id < %s', v_before);
  elsif v_state <> 'succeeded' or p_filter ? 'error_code' or p_filter ? 'error_name' then
    select string_agg(format(
             '(select r.job_id as id from postrider_internal.results r where r.state = %L and r.job_id < %s '
               'order by r.job_id desc limit %s)', s.code, v_before, v_window), ' union all ')
           || format($c$ union all select o.job_id from postrider_internal.outcomes o
                where o.state in ('c', 'e', 'k') and o.job_id < %s$c$, v_before)
      into v_source
      from (values ('failed', 'f'), ('unknown', 'u'), ('cancelled', 'c'), ('expired', 'e'), ('skipped', 'k'))
             s (state, code)
     where s.state = coalesce(v_state, s.state);
  elsif v_queue <> 'default' then
    v_key := format($c$j.queue = %L and j.queue <> 'default'$c$, v_queue);
  else
    v_key := 'true';
  end if;

  if v_key is not null then
    v_id := 'j.id';
    v_source := format('select j.id from postrider.jobs j where %s and j.id < %s', v_key, v_before);
    v_rows := format(
      '(select j.id, j.parent_id, j.queue, j.lane, j.service, j.operation, j.url, j.tag, j.created_at '
        'from postrider.jobs j where %s and j.id < %s order by j.id desc limit %s) j', v_key, v_before, v_window);
  else
    v_rows := format(
      '(%s order by id desc limit %s) c '
        'cross join lateral (select x.* from postrider.jobs x where x.id = c.id offset 0) j', v_source, v_window);
  end if;
  -- These look-ups are half of the work.
  if p_filter ?| array['status', 'error_code', 'error_name', 'since', 'until']
    or p_filter ? 'state' and not v_is_live then
    v_joins := 'left join lateral '
      '(select x.* from postrider_internal.results x where x.job_id = j.id offset 0) r on true '
      'left join postrider_internal.outcomes o on o.job_id = j.id and r.job_id is null';
  end if;
  execute format(
    'select array(select %1$s from %2$s %5$s where %3$s order by %1$s desc limit %4$s)',
    v_id, v_rows, postrider_internal.job_conditions(p_filter), p_limit + 1, v_joins)
    into ids using v_live;

  if cardinality(ids) > p_limit then
    ids := ids[:p_limit];
    reached := ids[p_limit];
  elsif v_from > 0 then
    if exists (select from postrider_internal.newest_of_state(v_state, v_queue, 1, v_from)) then
      reached := v_from;
    end if;
  elsif p_window is not null then
    execute format('select x.id from (%s) x order by x.id desc offset %s limit 1', v_source, v_window - 1)
      into reached using v_live;
  end if;
end
$$;
comment on function postrider_internal.find_jobs(jsonb, bigint, int, int) is
  'the newest jobs that match a filter (see job_conditions) with ids below p_before, and how far the search has looked';
