-- SPDX-License-Identifier: Apache-2.0
-- What: a list of intake can hold jobs of many lanes. The leader notes how far it has fed each priority.
-- Why:  an INSERT with one lane per row left one list per row, and every later INSERT had to queue behind all of them.
-- Cost: rewrites nothing; intake is empty except for the moments after a large INSERT.
-- breaking: no

alter table postrider.intake
  alter column queue drop not null,
  alter column lane drop not null,
  alter column max_attempts drop not null,
  alter column at_most_once drop not null,
  drop column expires_at,
  drop column is_followed,
  add column bucket int,
  add column is_behind boolean not null default false,
  add column queues text[],
  add column lanes text[];
alter table postrider.intake alter lanes set storage external, alter queues set storage external;
alter table postrider.intake
  add constraint intake_kind check ((lane is null) = (lanes is not null and bucket is not null and ids is not null));
comment on column postrider.intake.queue is 'null: the list holds jobs of several queues, see queues';
comment on column postrider.intake.lane is 'null: the list holds jobs of several lanes, see lanes';
comment on column postrider.intake.max_attempts is 'null: feed reads max_attempts, delivery, expires_at and followers from each job';
comment on column postrider.intake.bucket is 'of a list with several lanes: which hashes of queue and lane it holds, see intake_buckets';
comment on column postrider.intake.is_behind is 'of a list with several lanes: some of them have jobs in earlier lists, which are fed first';
comment on column postrider.intake.queues is 'the queue of each id; null: all are of the same queue';
comment on column postrider.intake.lanes is 'the lane of each id; null: all are of the same lane';

drop index postrider.intake_turn;
-- Of lists of one lane: their turn, and whether a track has rows there.
create index intake_turn on postrider.intake ((-priority::int), queue, lane, first_id, id) where lane is not null;
create index intake_bucket on postrider.intake (bucket) where lane is null;
create index intake_crowd on postrider.intake ((-priority::int), at, id) where lane is null;

-- Unlogged: after a crash the leader feeds a little more than it would have.
create unlogged table postrider.feed_marks (
  priority smallint primary key,
  queue text,
  lane text,
  at timestamptz,
  tracks int[] not null default '{}',
  seqs bigint[] not null default '{}'
);
comment on table postrider.feed_marks is 'private: how far the leader has fed the intake, for each priority';
comment on column postrider.feed_marks.queue is 'with lane: the lane that was fed last, of lists of one lane';
comment on column postrider.feed_marks.at is 'when a list of several lanes was fed last';
comment on column postrider.feed_marks.tracks is 'tracks fed by lists of several lanes';
comment on column postrider.feed_marks.seqs is 'of each of these tracks the last row fed';

-- Higher priorities first, see survey.
create index tracks_priority on postrider.tracks (priority, id);
