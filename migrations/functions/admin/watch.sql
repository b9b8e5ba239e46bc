-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- watch_places chooses the jobs. This function runs as its caller, so job_status hides jobs that the caller may not
-- see.
create or replace function postrider_internal.watch(
  p_id bigint, p_rows int, out depth int, out id bigint, out kind text, out title text, out state text,
  out children bigint,
  out finished bigint, out failed bigint, out active bigint, out bytes_done bigint, out bytes_total bigint,
  out note text)
returns setof record
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select w.depth, j.id, j.kind,
         case when j.kind = 'request' then concat_ws(' ', j.name, j.method, j.url)
           else concat_ws(' ', j.kind, j.name, j.tag) end,
         j.state, j.children, j.children_finished, j.children_failed, w.active,
         case when j.state = 'running' then j.bytes_done end, j.bytes_total,
         case when j.kind = 'request' then coalesce(j.error_code, j.status_code::text) else j.error_code end
    from postrider_internal.watch_places(p_id, p_rows) w
    join postrider.job_status j on j.id = w.job_id
   order by w.place
$$;
comment on function postrider_internal.watch(bigint, int) is
  'the rows that worker watch shows for a job and all below it (null: all in progress), at most p_rows, in tree order';
