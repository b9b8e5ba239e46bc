-- SPDX-License-Identifier: Apache-2.0
-- What: outcomes says why the end of a job could not be stored.
-- Why:  after five times the job ends without its functions, and what is recorded then named no reason.
-- Cost: a null column; no rewrite.
-- breaking: yes

alter table postrider.outcomes add column failure text;
comment on column postrider.outcomes.failure is 'why concluding it failed the last time; null where that is not known';
