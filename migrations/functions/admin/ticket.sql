-- SPDX-License-Identifier: Apache-2.0
-- Sets its own search path, so that a caller cannot replace a function that receives the secret.
create or replace function postrider_internal.ticket(p_secret bytea, p_id bigint) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select sha256(p_secret || int8send(p_id))
$$;
comment on function postrider_internal.ticket(bytea, bigint) is
  'proof for functions of the owner that the caller may see a job; of fixed length, so it fits this job only';
