-- SPDX-License-Identifier: Apache-2.0
-- A look through a range takes a second for a million jobs, and whoever retried a job waited for its end: now that is written down,
-- and the look is given up if it could matter.
create unlogged table postrider.reopened (
  first_id bigint not null
);
comment on table postrider.reopened is
  'private: jobs that run again since prune_range last began to look: the job''s id, of what belongs to a batch or chain that of its root';

alter table postrider.cache_varies add column stored_at timestamptz not null default now();
comment on column postrider.cache_varies.stored_at is
  'when an answer was last stored that has it, to the hour; cache_evict goes by it, since a variant does not tell whose it is';
create index cache_varies_stored on postrider.cache_varies (stored_at);
