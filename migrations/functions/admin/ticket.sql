-- SPDX-License-Identifier: Apache-2.0
-- A search path of its own: a caller must not be able to put a function of theirs under a name that the secret goes
-- through.
create or replace function postrider_internal.ticket(p_secret bytea, p_id bigint) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select sha256(p_secret || int8send(p_id))
$$;
comment on function postrider_internal.ticket(bytea, bigint) is
  'what shows a function that runs as the owner that its caller may see a job; of fixed length, so none can be made from another';
