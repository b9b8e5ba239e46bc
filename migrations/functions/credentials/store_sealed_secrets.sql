-- SPDX-License-Identifier: Apache-2.0
-- Who holds the row is just logging in or out; if its transaction changes nothing, the next look brings these again.
--
-- The spare that a worker without a key has left in plain goes too: it is only for the case that these turn out not to
-- work.
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
  'puts sealed secrets in the place of plain ones, if those are still there';
