-- SPDX-License-Identifier: Apache-2.0
-- after: requests/call_endpoint.sql
-- A job with use_envelope = false does not read the envelope of its service. The code in the envelope could say that
-- the token has expired, so the success of such a job does not show that the token was accepted.
create or replace function postrider_internal.accepting_endpoint(p_job bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.call_endpoint(j.service, j.method, j.url)
    from postrider.jobs j
    left join postrider.services s on s.name = j.service
   where j.id = p_job and (j.use_envelope is not false or s.envelope is null)
$$;
comment on function postrider_internal.accepting_endpoint(bigint) is
  'the endpoint that accepted the token of a job, as its answer shows; null: the answer says nothing about it';
