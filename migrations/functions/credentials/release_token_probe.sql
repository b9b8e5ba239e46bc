-- SPDX-License-Identifier: Apache-2.0
-- after: credentials/release_credential_waits.sql
-- planner: no-jit
-- Prefers, among the first thousand waiting jobs, one whose endpoint has not refused the token. If a time lies ahead,
-- the clock was set back since.
create or replace function postrider_internal.release_token_probe() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_credential text;
  v_job bigint;
begin
  for v_credential in
    select r.credential
      from postrider_internal.refreshes r
      join postrider.credentials c on c.name = r.credential and c.state = 'active'
     where r.held_since is not null and not r.probe_at between clock_timestamp()
       and clock_timestamp() + interval '1 min'
     order by r.probe_at limit 10 for no key update of r skip locked
  loop
    select w.job_id into v_job
      from (select w.job_id, w.seq from postrider_internal.credential_waits w
             where w.credential = v_credential order by w.credential, w.seq limit 1000) w
      join postrider.jobs j on j.id = any (array[w.job_id])
     order by exists (
                select from postrider_internal.refused_endpoints e
                 where e.credential = v_credential
                   and e.endpoint = postrider_internal.call_endpoint(j.service, j.method, j.url)), w.seq
     limit 1;
    continue when not found;
    update postrider_internal.refreshes r set probe_at = clock_timestamp() + interval '1 min', probe_job = v_job
      where r.credential = v_credential;
    perform postrider_internal.release_credential_waits(v_credential, false, v_job);
  end loop;
end
$$;
comment on function postrider_internal.release_token_probe() is
  'releases one job a minute for each credential whose tokens an API refuses';
