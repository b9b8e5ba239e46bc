-- SPDX-License-Identifier: Apache-2.0
-- What: how far long transfers have come.
-- Why:  one upsert per worker and second, only while it has transfers of over a second; lost in a crash of the server, and
--       then written again a second later, so it need not be logged.
-- Cost: runs on an empty schema.

create unlogged table postrider.progress (
  job_id bigint primary key,
  fence bigint not null,
  worker int not null,
  done bigint not null,
  total bigint,
  at timestamptz not null default clock_timestamp()
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.progress is
  'private: bytes of transfers that have been under way for over a second; counts while the fence is that of the running claim';
