-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.log_in_sealed(
  p_credential text, p_names text[], p_sealed bytea, p_expires_in bigint) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.store_login(
    p_credential, p_names, p_sealed, null, clock_timestamp() + make_interval(secs => p_expires_in))
$$;
comment on function postrider_internal.log_in_sealed(text, text[], bytea, bigint) is
  'log_in for secrets that worker credential set has sealed, with their names and their life in seconds';
