-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.credential_status as
select c.name, c.kind, c.state, c.version, c.expires_at,
       coalesce((select count(*) from postrider.credential_waits w join postrider.scheduled d on d.job_id = w.job_id and d.run_at = w.run_at
                  where w.credential = c.name), 0) as jobs_waiting,
       s.credential is not null as has_secrets, coalesce(s.plain is null, false) as is_sealed,
       coalesce(r.refreshes, 0) as refreshes, r.last_refresh_at,
       coalesce(r.failures, 0) as failures,
       case when c.state = 'cooldown' then r.due_at end as next_try_at,
       case when c.state = 'refreshing' and r.until > now() then k.name end as worker,
       case when cardinality(r.refused_by) >= 2 and not r.is_accepted then 'the API refuses the token although it is fresh; log in again'
            when c.state = 'refreshing' and coalesce(r.until, r.due_at) < now() - interval '10 s'
                 and exists (select from postrider.refreshes o where o.credential <> r.credential and o.until > now())
              then 'no worker has begun it; those that could are busy with other refreshes, whose token endpoints are slow'
            when c.state = 'refreshing' and coalesce(r.until, r.due_at) < now() - interval '10 s'
              then 'no worker has begun it; the workers need the key that the secrets were sealed with (POSTRIDER_SECRET_KEY)'
            else r.last_error end as last_error
  from postrider.credentials c
  left join postrider.secrets s on s.credential = c.name
  left join postrider.refreshes r on r.credential = c.name
  left join postrider.workers k on k.id = r.worker;
comment on view postrider.credential_status is
  'public: one row for each credential: its state, how far its refresh is, and how many jobs wait for it; no secret';
