-- SPDX-License-Identifier: Apache-2.0
-- What: columns that show which results the database has refused, and since when.
-- Why:  a shortage of the database ends no job, so explain, worker_status and the leader need to know what waits.
-- Cost: null columns; no rewrite.
-- breaking: yes

alter table postrider.workers
  add column results_waiting int not null default 0,
  add column results_waiting_since timestamptz,
  add column waiting_jobs bigint[];
comment on column postrider.workers.results_waiting is 'results that the database has refused and that the worker writes again; as of its last heartbeat';
comment on column postrider.workers.results_waiting_since is 'since when the worker has results that wait';
comment on column postrider.workers.waiting_jobs is 'jobs of these results, at most 1000';

alter table postrider.tree_deltas add column refused_since timestamptz;
comment on column postrider.tree_deltas.refused_since is 'when a shortage of the database first kept its tree from going on; null: none did';

alter table postrider.tries add column refusals smallint;
comment on column postrider.tries.refusals is 'how often in a row the database has refused to prepare the call of this job, while it prepared others; null: it has not';

update postrider.error_codes c
   set meaning = 'the database could not store or prepare it, or a path of the job takes too long, see error; otherwise please report it'
 where c.code = 'internal';
