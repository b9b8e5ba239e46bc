-- SPDX-License-Identifier: Apache-2.0
-- Some APIs send the envelope with 401 or 403. Its code then says whether the token has expired or the user is logged
-- out.
create or replace function postrider_internal.token_outcome(
  p_envelope jsonb, p_body bytea, out code text, out error text, out envelope_code text, out error_name text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  select o.code, o.error, o.envelope_code, o.error_name into code, error, envelope_code, error_name
    from postrider_internal.envelope_outcome(p_envelope, postrider_internal.try_jsonb(p_body)) o
   where o.code in ('token_expired', 'logged_out');
exception when others then
  -- The paths of the envelope do not fit this answer. That must not roll back its batch, so only the status counts.
  if postrider_internal.is_transient_error(sqlstate) then
    raise;
  end if;
end
$$;
comment on function postrider_internal.token_outcome(jsonb, bytea) is
  'token_expired or logged_out with a sentence, if the envelope of a refused answer says so; otherwise nulls';
