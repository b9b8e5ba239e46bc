-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.newest_jobs(state text, queue text default null, "limit" int default 100)
returns table (id bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if newest_jobs.state in (
    'waiting', 'scheduled', 'ready', 'running', 'succeeded', 'failed', 'cancelled', 'expired', 'skipped', 'unknown')
    is not true
  then
    raise exception using errcode = 'PR001', column = 'state',
      message = format('state: %s is not a state of a job', coalesce(quote_literal(newest_jobs.state), 'null')),
      hint = 'One of waiting, scheduled, ready, running, succeeded, failed, cancelled, expired, skipped, unknown.';
  elsif newest_jobs."limit" between 1 and 10000 is not true then
    raise exception using errcode = 'PR001', column = 'limit', message = 'limit: must be from 1 to 10000',
      hint = 'Its default is 100.';
  end if;
  return query select n.id
    from postrider_internal.newest_of_state(newest_jobs.state, newest_jobs.queue, newest_jobs."limit") n;
end
$$;
comment on function postrider.newest_jobs(text, text, int) is
  'returns ids of jobs in a state, of a queue (null: any), newest first; takes milliseconds for any number of jobs';
