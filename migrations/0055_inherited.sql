-- SPDX-License-Identifier: Apache-2.0
-- What: comments of the columns that members take from their batch or chain.
-- Why:  a batch with a priority ran its members at the default one.
-- Cost: the catalog alone.
-- breaking: no

comment on column postrider.jobs.queue is 'which workers may take it (worker --queue); a member takes it from its batch or chain';
comment on column postrider.jobs.priority is 'higher runs first; -100 to 100; low -4, default 0, high 4; a member takes it from its batch or chain';
comment on column postrider.jobs.service is
  'row of services that gives base URL, headers, limits, credential; a member with a relative URL takes it from its batch or chain';
comment on column postrider.jobs.credential is 'row of credentials to log in with; a member that takes the service of its batch or chain takes this, too';
comment on column postrider.jobs.timeout is
  'of one attempt, wall clock, from connect to last byte; null: that of its batch or chain, else the service''s, else 60 s; none for a download or a file that is sent';
