-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
--
-- Reads a bounded number of rows: the 400 newest jobs, the 500 newest tracks and names of errors, and the first p_limit
-- names of each table of names. Names that jobs have used last come first into the list, then names in their order.
--
-- Tags have no table of names, so the first 30 tags are found one after another by their index. Each one takes a look
-- into each partition, 0.1 ms with twelve of them.
--
-- Names of more than 100 characters are left out, because they would fill the page.
create or replace function postrider_internal.suggested_names(p_filters text[], p_limit int)
returns table (filter text, name text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
with recursive newest as materialized (
  select j.queue, j.service, j.operation, j.tag,
         postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane
    from postrider.jobs j order by j.id desc limit 400),
tags (tag, place) as (
  (select j.tag, 1 from postrider.jobs j where 'tag' = any (p_filters) and j.tag is not null order by j.tag limit 1)
  union all
  select (select j.tag from postrider.jobs j where j.tag > t.tag order by j.tag limit 1), t.place + 1
    from tags t where t.tag is not null and t.place < least(p_limit, 30)),
found (filter, name, place) as (
  select distinct v.filter, v.name, 0
    from newest n
   cross join lateral (values ('queue', n.queue), ('service', n.service), ('operation', n.operation), ('tag', n.tag),
                              ('lane', n.lane)) v (filter, name)
  union all
  select 'lane', t.lane, 1 from (select k.lane from postrider_internal.tracks k order by k.id desc limit 500) t
  union all
  select 'error_name', e.name, 1
    from (select x.name from postrider_internal.envelope_errors x order by x.job_id desc, x.fence desc limit 500) e
  union all
  (select 'queue', q.name, 2 from postrider.queues q order by q.name limit p_limit)
  union all
  (select 'lane', l.name, 2 from postrider.lanes l order by l.name limit p_limit)
  union all
  (select 'service', s.name, 2 from postrider.services s order by s.name limit p_limit)
  union all
  (select 'operation', o.name, 2 from postrider.operations o order by o.name limit p_limit)
  union all
  select 'tag', t.tag, 2 from tags t),
ranked as (
  select f.filter, f.name, row_number() over (partition by f.filter order by min(f.place), f.name) as rank
    from found f
   where f.filter = any (p_filters) and length(f.name) between 1 and 100
   group by f.filter, f.name)
select r.filter, r.name from ranked r where r.rank <= p_limit order by r.filter, r.name
$$;
comment on function postrider_internal.suggested_names(text[], int) is
  'at most p_limit names for each of the filters queue, lane, service, operation, tag and error_name, used ones first';
