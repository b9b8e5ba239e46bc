-- SPDX-License-Identifier: Apache-2.0
-- What: what each call is doing that takes longer than a second.
-- Why:  a call that hung had no row in attempts, and explain named only its worker.
-- Cost: progress is written anew; it has a row for each call of more than a second. It is logged now, because attempts reads it and stays
--       readable on a standby. A transfer costs some 150 bytes of WAL a second, a call that hangs costs them once.
-- breaking: no

alter table postrider.progress set logged;
alter table postrider.progress
  add column track int,
  add column seq bigint,
  add column attempt int,
  add column phase text,
  add column phase_since timestamptz,
  add column deadline timestamptz;
comment on table postrider.progress is
  'private: what each call is doing that has been under way for over a second; counts while the fence is that of the running claim';
comment on column postrider.progress.track is 'place of the job in ready, with seq; null: written by an older worker';
comment on column postrider.progress.phase is 'as in attempts';
comment on column postrider.progress.phase_since is 'as in attempts';
comment on column postrider.progress.deadline is 'as in attempts';
