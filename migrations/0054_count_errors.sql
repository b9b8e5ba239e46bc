-- SPDX-License-Identifier: Apache-2.0
-- What: the last error of the count of clients' jobs; jobs whose answers wait for the judging session of their worker.
-- Why:  an error of this count must not stop the leader's other counts, and an operator must see it. explain must say that such an answer waits.
-- Cost: none, null columns of two small tables.
-- breaking: no

alter table postrider.client_counting
  add column failed_at timestamptz,
  add column error text;
comment on column postrider.client_counting.failed_at is 'when fold_clients last failed; null: it has succeeded since, or never failed';
comment on column postrider.client_counting.error is 'message of this failure';

alter table postrider.workers add column judging_jobs bigint[];
comment on column postrider.workers.judging_jobs is
  'jobs whose answers wait for the judging session, as of the last heartbeat, 1000 at most; null: no answer waits';
