-- SPDX-License-Identifier: Apache-2.0
-- Services that share a namespace serve each other's answers, so the invalidation of one covers the whole namespace.
create or replace function postrider.cache_invalidate(service text default null,
                                                      pattern text default '%') returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_space text := (select nullif(s.cache_namespace, '') from postrider.services s
                   where s.name = cache_invalidate.service);
begin
  return postrider_internal.delete_cache_entries(array(
    select e.key from postrider.cache_entries e
     where (cache_invalidate.service is null or e.service = cache_invalidate.service or e.namespace = v_space)
       and e.url like coalesce(cache_invalidate.pattern, '%')), 'invalidated');
end
$$;
comment on function postrider.cache_invalidate(text, text) is
  'removes cached answers with URL LIKE pattern, of a service and its cache_namespace (null: all); returns how many';
