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
  from (select service, outcome, jobs, entries, bytes from postrider_internal.cache_totals
        union all
        select service, outcome, jobs, entries, bytes from postrider_internal.cache_deltas) c
 group by c.service;
comment on view postrider.cache_status is
  'one row for each service (empty: jobs without one): cached answers, jobs served, and reasons for calls';
comment on column postrider.cache_status.service is 'name of the service; empty: jobs without a service';
comment on column postrider.cache_status.entries is 'number of cached answers';
comment on column postrider.cache_status.bytes is 'size of these answers in bytes';
comment on column postrider.cache_status.hits is 'jobs served without a call';
comment on column postrider.cache_status.stale is 'jobs served with an old answer because the call failed';
comment on column postrider.cache_status.revalidated is 'jobs whose answer the API confirmed (304)';
comment on column postrider.cache_status.misses is 'jobs without a cached answer';
comment on column postrider.cache_status.cache_expired is 'calls because the cached answer was too old';
comment on column postrider.cache_status.cache_version is 'calls because cache_version differed';
comment on column postrider.cache_status.cache_sensitive is 'calls because cache_sensitive differed';
comment on column postrider.cache_status.cache_app_version is 'calls because --app-version of the worker differed';
comment on column postrider.cache_status.cache_metadata is
  'calls because status, time or headers of the entry were missing or invalid';
comment on column postrider.cache_status.cache_data is
  'calls because the body of the entry was missing, changed, or did not fit the job';
comment on column postrider.cache_status.stored is 'answers stored';
comment on column postrider.cache_status.evicted is 'answers removed for space, least recently used first';
comment on column postrider.cache_status.invalidated is
  'answers removed by cache_invalidate, or because a later call changed their URL (cache_mode http)';
