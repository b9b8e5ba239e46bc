-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Tasks for a worker. s: seal these secrets and pass them to store_sealed_secrets. r: fetch a token. A worker leases a
-- refresh for 14 s, longer than its call may take (10 s), and the epoch identifies the lease. If a lease ends later
-- than that, the clock was set back since. That worker may still be at work, so it gets 14 s from now.
--
-- A worker without a key can use only plain secrets. A worker whose key does not open some secrets leaves these to
-- others (p_except).
--
-- The secrets are the values for the templates of the request. The worker fills them in, because only it can open them.
create or replace function postrider_internal.next_credential_tasks(p_worker int, p_has_key boolean,
                                                                    p_can_refresh boolean default true,
                                                                    p_except text[] default '{}')
returns table (
  task "char", credential text, kind text, version bigint, epoch bigint, sealed bytea, secrets text[],
  method text, url text, headers text[], body bytea, form text[], client_id text, private_network boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_credential postrider.credentials;
  v_epoch bigint;
begin
  -- Each worker asks, so a database without credentials answers at once.
  if not exists (select from postrider.credentials) then
    return;
  end if;
  perform postrider_internal.release_token_probe();
  if p_has_key then
    return query
    select 's'::"char", s.credential, null::text, s.version, 0::bigint, null::bytea, postrider_internal.pairs(s.plain),
           null::text, null::text, null::text[], null::bytea, null::text[], null::text, false
      from postrider_internal.secrets s where s.plain is not null limit 20;
  end if;
  update postrider_internal.refreshes r set until = clock_timestamp() + interval '14 s'
   where r.ctid = any (array(
           select x.ctid from postrider_internal.refreshes x
            where x.until > clock_timestamp() + interval '15 s' for no key update skip locked));
  select c.* into v_credential
    from postrider.credentials c
    join postrider_internal.refreshes r on r.credential = c.name
    join postrider_internal.secrets s on s.credential = c.name
   where c.state in ('refreshing', 'cooldown') and postrider_internal.is_refresh_due(r, c.state)
     and (p_has_key or s.sealed is null)
     and p_can_refresh and c.name <> all (p_except)
   order by r.due_at
   limit 1
     for no key update of c skip locked;
  if not found then
    return;
  end if;
  -- The row of refreshes may have changed before the row of credentials was locked.
  update postrider_internal.refreshes r
     set worker = p_worker, epoch = nextval('postrider_internal.fences'), until = clock_timestamp() + interval '14 s',
         began_at = clock_timestamp()
   where r.credential = v_credential.name and postrider_internal.is_refresh_due(r, v_credential.state)
  returning r.epoch into v_epoch;
  if not found then
    return;
  end if;
  update postrider.credentials c set state = 'refreshing' where c.name = v_credential.name and c.state <> 'refreshing';
  return query
  select 'r'::"char", v_credential.name, v_credential.kind, s.version, v_epoch, s.sealed,
         case when s.sealed is null then postrider_internal.pairs(s.plain) end,
         q.method, q.url, q.headers, q.body, q.form, q.client_id, v_credential.allow_private_network
    from postrider_internal.secrets s cross join lateral postrider_internal.refresh_call(v_credential) q
   where s.credential = v_credential.name;
end
$$;
comment on function postrider_internal.next_credential_tasks(int, boolean, boolean, text[]) is
  'credential tasks for a worker: secrets to seal, and at most one refresh, leased to it';
