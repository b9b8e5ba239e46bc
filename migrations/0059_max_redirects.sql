-- SPDX-License-Identifier: Apache-2.0
-- What: jobs.max_redirects.
-- Why:  a job that wants the redirect itself could not have it.
-- Cost: a nullable column without a default, so no table is rewritten.
-- breaking: no

alter table postrider.jobs add column max_redirects int;
comment on column postrider.jobs.max_redirects is
  'how many redirects are followed, 0 to 10; 0: the 3xx itself is the answer; null: 5';
