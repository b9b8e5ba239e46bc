-- SPDX-License-Identifier: Apache-2.0
-- What: jobs.require_data, and the table envelope_errors.
-- Why:  an empty list could not be called a failure, and the code inside an answer stood in a sentence alone.
-- Cost: a nullable column without a default, so no table is rewritten. A row for each answer with such a code, in a table of its own, so
--       that other jobs pay nothing.
-- breaking: no

alter table postrider.jobs add column require_data boolean;
comment on column postrider.jobs.require_data is
  'true: an empty list, an empty object or null as result ends the job with no_data; null: they are a success';

create table postrider.envelope_errors (
  job_id bigint not null,
  fence bigint not null,                   -- of the try
  code text not null,
  name text,                               -- null: services.envelope has no name for the code
  primary key (job_id, fence)
);
comment on table postrider.envelope_errors is
  'private: the codes inside answers that were no success, by services.envelope; read job_status, attempts or recent_failures';
