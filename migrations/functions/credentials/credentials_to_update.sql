-- SPDX-License-Identifier: Apache-2.0
-- after: credentials/is_new_acceptance.sql, credentials/awaits_acceptance.sql
-- Asks once for each credential whether it awaits an acceptance, because most do not.
--
-- The arrays have one element for each attempt. p_found: refused, logged_out, accepted; null: the answer does not show
-- it.
create or replace function postrider_internal.credentials_to_update(p_credential text[], p_found text[],
                                                                    p_job bigint[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_open text[] := array(
    select d.credential
      from (select distinct x.credential from unnest(p_credential, p_found) as x(credential, found)
             where x.found = 'accepted' offset 0) d
     where postrider_internal.awaits_acceptance(d.credential));
begin
  return array(
    select distinct x.credential
      from unnest(p_credential, p_found, p_job) as x(credential, found, job)
     where x.found in ('refused', 'logged_out') or x.found = 'accepted' and x.credential = any (v_open)
       and postrider_internal.is_new_acceptance(x.credential, x.job)
     order by x.credential);
end
$$;
comment on function postrider_internal.credentials_to_update(text[], text[], bigint[]) is
  'the credentials that answers change: by a refusal, a logout or an acceptance that has to be recorded';
