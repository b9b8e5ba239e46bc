-- SPDX-License-Identifier: Apache-2.0
-- What: comments of columns and meanings of error codes that left something out.
-- Why:  a job with a service has the service's name as its lane and the service's timeout, files have none.
-- Cost: the catalog alone.
-- breaking: no

comment on column postrider.jobs.lane is
  'unit of flow control towards the outside; null: the service''s name, else the host:port of the URL';
comment on column postrider.jobs.timeout is
  'of one attempt, wall clock, from connect to last byte; null: the service''s, else 60 s; none for a download or a file that is sent';
comment on column postrider.jobs.url is
  'absolute http or https URL, or relative to the service''s base URL; user:password in it becomes Basic auth';

comment on column postrider.workers.steady_since is 'no two heartbeats since then were more than 6.8 s apart';

update postrider.error_codes c set meaning = n.meaning
  from (values ('no_more_data', 'a later page has no list where those before had one'),
               ('internal', 'what should not happen, then please report it; or a path of the job that takes too long, see error'))
       n (code, meaning)
 where c.code = n.code;
