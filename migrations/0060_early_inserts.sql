-- SPDX-License-Identifier: Apache-2.0
-- What: the ids of jobs that were inserted between a restore and the first worker.
-- Why:  their Idempotency-Keys need a new first part. Without it a new job had the key of another one, whose ids begin again.
-- Cost: one empty table.
-- breaking: no

create table postrider.early_inserts (first_id bigint primary key);
comment on table postrider.early_inserts is
  'private: the lowest id of each INSERT into jobs after a restore that no worker has found yet; the first worker empties it';
comment on column postrider.early_inserts.first_id is 'of the jobs of one statement';
