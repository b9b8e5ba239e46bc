-- SPDX-License-Identifier: Apache-2.0
-- What: entries of the cache that are outdated and could not be removed at once.
-- Why:  a POST to a service of cache_mode http waited for whoever held an entry of its URL (an open transaction that had called
--       cache_invalidate, say) until its time was over, and with it all calls of its worker that ended in the same second.
-- Cost: an empty table.
-- breaking: no

create table postrider.cache_outdated (
  id bigint generated always as identity primary key,
  key bytea not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index cache_outdated_key on postrider.cache_outdated (key);
comment on table postrider.cache_outdated is
  'private: keys of cached answers that a POST, PUT, PATCH or DELETE has outdated while somebody held them; the leader removes them';
