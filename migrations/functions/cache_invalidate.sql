-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.cache_invalidate(service text default null, pattern text default '%') returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return postrider.cache_drop(array(
    select e.key from postrider.cache_entries e
     where (cache_invalidate.service is null or e.service = cache_invalidate.service)
       and e.url like coalesce(cache_invalidate.pattern, '%')), 'invalidated');
end
$$;
comment on function postrider.cache_invalidate(text, text) is
  'public: removes the cached answers of a service (null: any, '''': of jobs without one) whose URL is LIKE the pattern; how many';
