-- SPDX-License-Identifier: Apache-2.0
-- The text of a condition over three rows: j of jobs, r of results, o of outcomes. The caller joins o only if there is
-- no r. Each value is quoted as a literal.
--
-- The cheap tests of lane and url come first: job_lane and the mask of a URL take microseconds. The search reads the
-- URL as pages show it, so a search for the letters of a secret finds nothing.
create or replace function postrider_internal.job_conditions(p_filter jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg('(' || c.condition || ')', ' and ' order by c.place), 'true')
    from (values
      (1, (select format('j.queue in (%s)', string_agg(quote_literal(q.name), ', '))
             from jsonb_array_elements_text(p_filter -> 'queue') q (name))),
      (2, format('j.tag = %L', p_filter ->> 'tag')),
      (3, format('j.service = %L', p_filter ->> 'service')),
      (4, format('j.operation = %L', p_filter ->> 'operation')),
      (5, format(
        'j.url is not null and (j.lane = %1$L or j.lane is null and (j.service = %1$L or j.service is null '
          'and postrider_internal.job_lane(null, j.url) = %1$L))', p_filter ->> 'lane')),
      (6, format(case when p_filter ->> 'state' in ('succeeded', 'failed', 'unknown') then 'r.state = %1$L'
                   else 'r.state = %1$L or r.job_id is null and o.state = %1$L' end,
                 case p_filter ->> 'state' when 'succeeded' then 's' when 'failed' then 'f' when 'cancelled' then 'c'
                   when 'expired' then 'e' when 'skipped' then 'k' when 'unknown' then 'u' end)),
      (7, format('r.status_code = %L', p_filter ->> 'status')),
      (8, format(
        $c$coalesce(r.error_code, case when o.state in ('c', 'e', 'k') then o.error_code end) = %L$c$,
        p_filter ->> 'error_code')),
      (9, format(
        $c$r.state = 'f' and exists (select from postrider_internal.envelope_errors e
             where e.job_id = r.job_id and e.fence = r.fence and e.name = %L)$c$, p_filter ->> 'error_name')),
      (10, format(
        $c$coalesce(r.finished_at, case when o.state in ('c', 'e', 'k') then o.finished_at end, j.created_at)
             >= %L::timestamptz$c$, p_filter ->> 'since')),
      (11, format(
        $c$coalesce(r.finished_at, case when o.state in ('c', 'e', 'k') then o.finished_at end, j.created_at)
             < %L::timestamptz$c$, p_filter ->> 'until')),
      (12, format(
        $c$(j.parent_id is not null or position('*' in %1$L) > 0 or position('@' in j.url) > 0
             or position(%1$L in j.url) > 0)
           and position(%1$L in postrider_internal.url_with_masked_query(postrider_internal.url_without_login(coalesce(
             (select f.url from postrider_internal.filled_templates f
               where f.job_id = j.id and j.parent_id is not null limit 1), j.url)), '{}')) > 0$c$,
        p_filter ->> 'url'))) c (place, condition)
   where c.condition is not null and case c.place
           when 1 then jsonb_array_length(p_filter -> 'queue') > 0
           when 2 then p_filter ? 'tag' when 3 then p_filter ? 'service' when 4 then p_filter ? 'operation'
           when 5 then p_filter ? 'lane'
           when 6 then p_filter ->> 'state' in ('succeeded', 'failed', 'cancelled', 'expired', 'skipped', 'unknown')
           when 7 then p_filter ? 'status' when 8 then p_filter ? 'error_code' when 9 then p_filter ? 'error_name'
           when 10 then p_filter ? 'since' when 11 then p_filter ? 'until' when 12 then p_filter ? 'url' end
$$;
comment on function postrider_internal.job_conditions(jsonb) is
  'the SQL condition of a filter like {"queue": ["mail"], "lane": "billing", "error_code": "timeout"}';
