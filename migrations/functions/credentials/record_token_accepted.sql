-- SPDX-License-Identifier: Apache-2.0
-- An accepted token makes the spare secrets needless. At most two accepting endpoints are stored, because
-- is_new_acceptance asks for no more. The caller has locked the row of credentials.
create or replace function postrider_internal.record_token_accepted(p_credential text,
                                                                    p_endpoints text[])
returns postrider_internal.refreshes
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh postrider_internal.refreshes;
  v_was_held boolean;
begin
  select r.held_since is not null into v_was_held from postrider_internal.refreshes r where r.credential = p_credential;
  delete from postrider_internal.refused_endpoints e
    where e.credential = p_credential and e.endpoint = any (p_endpoints);
  update postrider_internal.secrets s set spare_sealed = null, spare_plain = null
   where s.credential = p_credential and num_nonnulls(s.spare_sealed, s.spare_plain) > 0;
  update postrider_internal.refreshes r
     set held_since = null, probe_job = null,
         accepted_by = (array(select distinct e from unnest(r.accepted_by || p_endpoints) e))[:2]
   where r.credential = p_credential
  returning * into v_refresh;
  if v_was_held then
    perform postrider_internal.release_credential_waits(p_credential, false);
  end if;
  return v_refresh;
end
$$;
comment on function postrider_internal.record_token_accepted(text, text[]) is
  'records that endpoints accepted the present token, and releases held jobs; returns its row of refreshes';
