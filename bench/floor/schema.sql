-- SPDX-License-Identifier: Apache-2.0
-- The smallest schema of a durable queue of calls: one table of jobs, one of results. No lease, no retry, no history.
create table jobs (
  id bigint generated always as identity primary key,
  run_at timestamptz not null default now(),
  claimed_at timestamptz,
  state smallint not null default 0,     -- 0 ready, 1 claimed
  attempt smallint not null default 0,
  url text not null
) with (fillfactor = 80);                -- room on the page, so that a claim stays a HOT update

create index jobs_ready_idx on jobs (run_at, id) where state = 0;

create table results (
  job_id bigint primary key,
  finished_at timestamptz not null default now(),
  status int not null,
  body text not null
);
