-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.credential_status as
select c.name, c.kind,
       -- The state that jobs meet (decide_credential_step), independent of the state that a user inserted.
       case when s.credential is null or r.credential is null then 'logged_off'
         else c.state end as state, c.version, c.expires_at,
       coalesce((select count(*) from postrider_internal.credential_waits w
                 join postrider_internal.scheduled d on d.job_id = w.job_id and d.run_at = w.run_at
                  where w.credential = c.name), 0) as jobs_waiting,
       s.credential is not null as has_secrets, coalesce(s.plain is null, false) as is_sealed,
       coalesce(r.refreshes, 0) as refreshes, r.last_refresh_at,
       coalesce(r.failures, 0) as failures,
       case when c.state = 'cooldown' then r.due_at end as next_try_at,
       case when c.state = 'refreshing' and r.until > now() then k.name end as worker,
       case when c.state = 'refreshing' and coalesce(r.until, r.due_at) < now() - interval '10 s'
                 and exists (select from postrider_internal.refreshes o
                             where o.credential <> r.credential and o.until > now())
              then 'no worker has begun it; the workers are busy with other refreshes, whose token endpoints are slow'
            when c.state = 'refreshing' and coalesce(r.until, r.due_at) < now() - interval '10 s'
              then 'no worker has begun it; start a worker with the key that sealed the secrets (POSTRIDER_SECRET_KEY)'
            else r.last_error end as last_error,
       r.held_since,
       case when r.held_since is not null then format(
         'the API refuses each token, also at %s; one job a minute tests it; check scope and place, or log in again',
         (select string_agg(e.endpoint, ', ' order by e.refused_at desc)
            from (select e.endpoint, e.refused_at from postrider_internal.refused_endpoints e
                   where e.credential = c.name order by e.refused_at desc limit 3) e)) end as hold_reason
  from postrider.credentials c
  left join postrider_internal.secrets s on s.credential = c.name
  left join postrider_internal.refreshes r on r.credential = c.name
  left join postrider_internal.workers k on k.id = r.worker;
comment on view postrider.credential_status is
  'one row for each credential: its state, its refresh, and the jobs that wait for it; no secrets';
comment on column postrider.credential_status.name is 'name of the credential';
comment on column postrider.credential_status.kind is 'kind of the login, see credentials.kind';
comment on column postrider.credential_status.state is
  'active, refreshing, cooldown (a refresh failed and will be retried) or logged_off';
comment on column postrider.credential_status.version is
  'number of the present secrets; grows with each login and refresh';
comment on column postrider.credential_status.expires_at is 'when the token expires; null: not known';
comment on column postrider.credential_status.jobs_waiting is
  'jobs that wait for a refresh, or are held because the API refuses each token';
comment on column postrider.credential_status.has_secrets is 'true: secrets are stored';
comment on column postrider.credential_status.is_sealed is 'true: a worker has encrypted the secrets with its key';
comment on column postrider.credential_status.refreshes is 'number of successful refreshes';
comment on column postrider.credential_status.last_refresh_at is 'when the last refresh succeeded';
comment on column postrider.credential_status.failures is 'failed refreshes in a row';
comment on column postrider.credential_status.next_try_at is 'in cooldown: when the next refresh begins';
comment on column postrider.credential_status.worker is 'worker that refreshes the token now';
comment on column postrider.credential_status.last_error is 'why the credential is not active, with advice';
comment on column postrider.credential_status.held_since is
  'since when jobs are held because the API refuses each token; null: not held';
comment on column postrider.credential_status.hold_reason is 'why jobs are held, with advice';
