-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_secret_name(p_name text) returns boolean
language sql immutable parallel safe
as $$
  select n.name ~ 'token|secret|password|apikey|signature|auth|credential|session|cookie|subscriptionkey|accesskey'
      or n.name in ('key', 'sig', 'code', 'pwd')
    from (select lower(translate(p_name, '-_', '') collate "C") as name) n
$$;
comment on function postrider_internal.is_secret_name(text) is
  'whether the value of a header, query argument or key with this name is masked';
