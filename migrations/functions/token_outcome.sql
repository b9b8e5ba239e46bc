-- SPDX-License-Identifier: Apache-2.0
-- Some send the envelope with 401 or 403, and its code says which of the two it is.
create or replace function postrider.token_outcome(p_envelope jsonb, p_body bytea, out code text, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  select o.code, o.error into code, error
    from postrider.envelope_outcome(p_envelope, postrider.try_jsonb(p_body)) o
   where o.code in ('token_expired', 'logged_out');
exception when others then
  -- The envelope's paths cannot be applied to this answer, which must not undo its batch: its status alone counts.
  if postrider.is_passing(sqlstate) then
    raise;
  end if;
end
$$;
comment on function postrider.token_outcome(jsonb, bytea) is
  'private: token_expired or logged_out with its sentence, if the envelope of a refused answer says so; else nulls';
