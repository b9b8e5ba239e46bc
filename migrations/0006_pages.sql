-- SPDX-License-Identifier: Apache-2.0
-- What: the pages that jobs with paginate have fetched.
-- Why:  a job goes on from its last row here, so a crash between two pages loses nothing. A row is written in the
--       transaction that takes the lease of its page away, and only if the lease still held: no page stands here twice.
-- Cost: runs on an empty schema.

create table postrider.fetched_pages (
  job_id bigint not null,
  page int not null,                       -- from 1
  url text not null,                       -- what was called, without user and password and the service's arguments
  status_code smallint,
  count int not null,                      -- of the items
  items jsonb not null,                    -- an array
  next text,                               -- what gives the page after: a number, a cursor, an absolute URL; null: there is none
  target text,                             -- style link: the next URL as jobs.url would have it, relative to the service's base if the job is
  bytes bigint not null,                   -- of the items of this page and all before
  total int not null,                      -- how many items these are
  bound int not null,                      -- the last page that max_pages allows
  is_stuck boolean not null default false, -- next cannot be followed; retry fetches this page again
  fetched_at timestamptz not null default now(),
  primary key (job_id, page)
);
create index fetched_pages_next on postrider.fetched_pages (job_id, md5(next)) where next is not null;
comment on table postrider.fetched_pages is 'private: a row for each page that a job with paginate has fetched; read pages';
