-- SPDX-License-Identifier: Apache-2.0
-- Where the peers' tasks put their answers: neither library keeps a result of its own.
create table results (
  job_id bigint primary key,
  finished_at timestamptz not null default now(),
  status int not null,
  body text not null
);
