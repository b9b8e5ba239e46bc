-- SPDX-License-Identifier: Apache-2.0
-- What: the type of what finish puts aside: attempts that do not simply end their job.
-- Why:  finish set up four more INSERTs for every batch, most of which have nothing for them: 18 of its fixed 69 us.
-- Cost: none.

create type postrider.leftover as (
  seq bigint, job_id bigint, fence bigint, since timestamptz, track int, attempt int, max_attempts int, rekey smallint,
  at_most_once boolean, expires_at timestamptz, parent_id bigint, is_followed boolean, tried int[],
  outcome "char", retry_after_ms bigint, server int,
  dns int, connect int, tls int, first_byte int, total int, status smallint, reused boolean, http text, code text, ip text,
  error text, headers bytea, body bytea, sent bigint, received bigint, cache text, encoding text, result jsonb, base text,
  version bigint
);
comment on type postrider.leftover is
  'private: an attempt, and the place of its job in ready, that does not simply end the job; headers, body and result only if the job is followed';
