-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- A cache hit has no call, so its will_start hooks run at its end, unless an earlier attempt of the job was called. A
-- skipped job (state k) runs no callback.
create or replace function postrider_internal.callables(p_job bigint, p_state "char", p_is_hit boolean)
returns table (place int, key text, event text, callback text, function text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select row_number() over (order by c.place, c.id)::int, c.key, c.event, c.callback, c.function
    from (select case h.event when 'will_start' then 1 when 'will_stop' then 2
          else 4 end as place, h.id, h.id::text as key,
                 h.event, null as callback, h.function
            from postrider.hooks h
            join postrider.jobs j on j.id = p_job
           where (h.service is null or h.service = j.service) and (h.queue is null or h.queue = j.queue)
             and (h.event <> 'will_start'
                  or p_is_hit and not exists (select from postrider_internal.hook_starts s where s.job_id = p_job))
           union all
          select 3, 0, 'callback', n.event, n.name, b.function
            from postrider.jobs j
           cross join lateral (
                 select case when p_state = 's' then 'on_success' else 'on_failure' end as event,
                        case p_state when 's' then j.on_success when 'k' then null else j.on_failure end as name) n
            left join postrider.callbacks b on b.name = n.name
           where j.id = p_job and n.name is not null) c
   order by 1;
end
$$;
comment on function postrider_internal.callables(bigint, "char", boolean) is
  'the functions to run when a job ended in this state, in order; p_is_hit: cache hit; null function: unregistered';
