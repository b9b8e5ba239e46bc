-- SPDX-License-Identifier: Apache-2.0
-- What: settings.judge_timeout, the error code too_expensive, and what a worker reports about answers that wait to be judged.
-- Why:  one client's jsonpath took the session that claims for 30 s, and plain jobs of other clients waited 40 s behind it.
-- Cost: columns with defaults and an index that holds no row while nothing expensive waits; no rewrite.
-- breaking: yes

alter table postrider.settings add column judge_timeout interval not null default '2 s';
comment on column postrider.settings.judge_timeout is
  'how long an expensive expression may take for one answer or one step; from 10 ms to 1 min; then the job fails with too_expensive';

insert into postrider.error_codes (code, number, class, retryable, meaning) values
  ('too_expensive', 304, 'answer', false, 'an expression of the job takes longer than settings.judge_timeout; simplify it');

alter table postrider.workers
  add column judgements_waiting int not null default 0,
  add column judgements_since timestamptz;
comment on column postrider.workers.judgements_waiting is 'answers that wait for the judging session, as of the last heartbeat';
comment on column postrider.workers.judgements_since is 'when the oldest of them came; null: none waits';

alter table postrider.tree_deltas add column is_expensive boolean not null default false;
comment on column postrider.tree_deltas.is_expensive is
  'the next step reads large answers or has an expression that may take long: a judging session adds this row up';
create index tree_deltas_expensive on postrider.tree_deltas (tree_id) where is_expensive;
