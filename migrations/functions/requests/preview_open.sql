-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.preview_open(p_job postrider.jobs, p_service postrider.services,
                                                           p_applies boolean) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct '{{' || t.part || '}}'
      from postrider_internal.job_templates(p_job) j
     cross join lateral unnest(postrider_internal.template_parts(j.value)) with ordinality t (part, place)
     where p_job.parent_id is not null and t.place % 2 = 0
     order by 1)
    || array_remove(array[
         case when p_job.method not in ('GET', 'HEAD', 'OPTIONS') then coalesce(
           (select coalesce(p_service.idempotency_header, x.idempotency_header) from postrider.settings x),
           'Idempotency-Key') end,
         case when p_applies and p_service.cookies then 'cookies' end,
         case when p_job.paginate is not null then 'later pages' end,
         case when p_job.body_parts is not null then 'boundary' end], null)
$$;
comment on function postrider_internal.preview_open(postrider.jobs, postrider.services, boolean) is
  'what preview cannot know of a request: templates, the idempotency key, cookies, later pages, the boundary of parts';
