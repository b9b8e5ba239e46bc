-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.raise_expired_run_at(p_run_at timestamptz,
                                                                   p_expires_at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_expires_at <= p_run_at then
    raise exception using errcode = 'PR001', column = 'run_at',
      message = format('run_at: is not before the job''s expires_at, %s', p_expires_at),
      hint = 'Give an earlier time, or insert a new job with a later expires_at.';
  end if;
end
$$;
comment on function postrider_internal.raise_expired_run_at(timestamptz, timestamptz) is
  'raises PR001 if a new run_at is not before the expires_at of the job';
