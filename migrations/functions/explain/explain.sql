-- SPDX-License-Identifier: Apache-2.0
-- Runs as the caller, like cancel.
create or replace function postrider.explain(id bigint) returns text
language plpgsql stable security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('id', explain.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  return postrider_internal.explain_job(explain.id,
                                        (select t.ticket from postrider_internal.tickets t where t.id = explain.id));
end
$$;
comment on function postrider.explain(bigint) is
  'returns one sentence: why a job is not running and when it will, or how it ended';
