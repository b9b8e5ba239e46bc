-- SPDX-License-Identifier: Apache-2.0
-- What: a limit for the size of request bodies.
-- Why:  a body of 200 MB takes a few MB in the table and three times its size in each worker that calls it.
-- Cost: none; jobs that are in the table already stay as they are.
-- breaking: no

alter table postrider.settings add max_request_body bigint not null default 16777216;
comment on column postrider.settings.max_request_body is
  'most bytes that the body of one request may have as it is sent (64 KiB to 512 MiB); streamed files of body_parts do not count';
