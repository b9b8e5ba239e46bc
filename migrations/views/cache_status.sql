-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.cache_status as
select c.service,
       coalesce(sum(c.entries), 0)::bigint as entries,
       coalesce(sum(c.bytes), 0)::bigint as bytes,
       coalesce(sum(c.jobs) filter (where c.outcome = 'hit'), 0)::bigint as hits,
       coalesce(sum(c.jobs) filter (where c.outcome = 'stale'), 0)::bigint as stale,
       coalesce(sum(c.jobs) filter (where c.outcome = 'revalidated'), 0)::bigint as revalidated,
       coalesce(sum(c.jobs) filter (where c.outcome = 'miss'), 0)::bigint as misses,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_expired'), 0)::bigint as cache_expired,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_version'), 0)::bigint as cache_version,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_sensitive'), 0)::bigint as cache_sensitive,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_app_version'), 0)::bigint as cache_app_version,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_metadata'), 0)::bigint as cache_metadata,
       coalesce(sum(c.jobs) filter (where c.outcome = 'cache_data'), 0)::bigint as cache_data,
       coalesce(sum(c.jobs) filter (where c.outcome = 'stored'), 0)::bigint as stored,
       coalesce(sum(c.jobs) filter (where c.outcome = 'evicted'), 0)::bigint as evicted,
       coalesce(sum(c.jobs) filter (where c.outcome = 'invalidated'), 0)::bigint as invalidated
  from (select service, outcome, jobs, entries, bytes from postrider.cache_totals
        union all
        select service, outcome, jobs, entries, bytes from postrider.cache_tallies) c
 group by c.service;
comment on view postrider.cache_status is
  'public: one row for each service (empty: jobs without one): what the cache holds, what it served, and why it did not';
