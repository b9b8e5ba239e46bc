-- SPDX-License-Identifier: Apache-2.0
-- The secrets are stored as plain text until a worker with a key seals them. The server log and pg_stat_activity may
-- show the statement. `worker credential set` seals the secrets before it sends them.
create or replace function postrider.log_in(credential text, secrets jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain jsonb;
  v_expires_at timestamptz;
begin
  perform postrider_internal.raise_null_argument('credential', log_in.credential is null,
                                                 'Give the name of a credential; see select name from postrider.credential_status.');
  if log_in.secrets is null or jsonb_typeof(log_in.secrets) <> 'object' then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'secrets', column = 'secrets',
      message = 'secrets: $ must be an object',
      hint = 'Like {"access_token": "…"} or {"username": "…", "password": "…"}.';
  end if;
  v_plain := log_in.secrets - '{expires_in,expires_at}'::text[];
  begin
    v_expires_at := coalesce(
      (log_in.secrets ->> 'expires_at')::timestamptz,
      clock_timestamp() + make_interval(secs => (log_in.secrets ->> 'expires_in')::double precision));
    -- infinity means a token without an end, which store_login stores as null.
    if v_expires_at = '-infinity' then
      raise exception using errcode = 'datetime_field_overflow';
    end if;
  exception when others then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'secrets', column = 'secrets',
      message = 'secrets: $.expires_at or $.expires_in is not a time',
      hint = 'Give seconds, like {"expires_in": 3600}, or a timestamp.';
  end;
  perform postrider_internal.store_login(
    log_in.credential, array(select jsonb_object_keys(v_plain)), null, v_plain, v_expires_at);
end
$$;
comment on function postrider.log_in(text, jsonb) is
  'replaces the secrets of a credential, makes it active and releases the jobs that wait for it';
