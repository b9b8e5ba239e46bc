-- SPDX-License-Identifier: Apache-2.0
-- A transaction that locks the row is logging in or out. If it changes nothing, the worker gets these secrets again.
--
-- A plain spare left by a worker without a key is deleted too. It would be needed only if these secrets do not work.
create or replace function postrider_internal.store_sealed_secrets(p_credential text, p_version bigint,
                                                                   p_sealed bytea) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update postrider_internal.secrets s set sealed = p_sealed, plain = null, spare_plain = null
   where s.ctid = (
           select x.ctid from postrider_internal.secrets x
            where x.credential = p_credential and x.version = p_version
              and x.plain is not null for no key update skip locked);
  return found;
end
$$;
comment on function postrider_internal.store_sealed_secrets(text, bigint, bytea) is
  'replaces plain secrets with sealed ones, if the plain ones still exist';
