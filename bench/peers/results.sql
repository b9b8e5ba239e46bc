-- SPDX-License-Identifier: Apache-2.0
-- The table for the answers of the peers' jobs, because neither library stores results.
create table results (
  job_id bigint primary key,
  finished_at timestamptz not null default now(),
  status int not null,
  body text not null
);
