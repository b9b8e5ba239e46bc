-- SPDX-License-Identifier: Apache-2.0
-- Services that share a namespace are served each other's answers, so one's invalidation takes all of the namespace. An answer whose
-- call is under way is of before, and will not be kept: its call forgets under which key. Locks in the order of the keys, as whoever
-- stores does.
create or replace function postrider.cache_invalidate(service text default null, pattern text default '%') returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_pattern text := coalesce(cache_invalidate.pattern, '%');
  v_space text := (select nullif(s.cache_namespace, '') from postrider.services s where s.name = cache_invalidate.service);
begin
  update postrider.cache_calls c set base = ''
   where c.ctid = any (array(
           select o.ctid
             from postrider.cache_calls o
             join postrider.jobs j on j.id = o.job_id
             left join postrider.services s on s.name = j.service
            where (cache_invalidate.service is null or coalesce(j.service, '') = cache_invalidate.service or s.cache_namespace = v_space)
              and postrider.url_shown(postrider.job_url((postrider.filled(j)).url, j.use_cdn, s)) like v_pattern
            order by o.key
              for update of o));
  return postrider.cache_drop(array(
    select e.key from postrider.cache_entries e
     where (cache_invalidate.service is null or e.service = cache_invalidate.service or e.namespace = v_space)
       and e.url like v_pattern), 'invalidated');
end
$$;
comment on function postrider.cache_invalidate(text, text) is
  'public: removes the cached answers of a service and of those that share its cache_namespace (null: any, '''': of jobs without one) whose URL is LIKE the pattern; how many';
