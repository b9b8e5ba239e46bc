-- SPDX-License-Identifier: Apache-2.0
-- What: jobs.use_envelope.
-- Why:  one endpoint of a service may answer without the service's envelope, like a file server or a health check.
-- Cost: a nullable column without a default, so no table is rewritten.
-- breaking: no

alter table postrider.jobs add column use_envelope boolean;
comment on column postrider.jobs.use_envelope is
  'false: the answer is read without the envelope of the service; null: with it, if the service has one';
