-- SPDX-License-Identifier: Apache-2.0
-- Every rule that a row of jobs must obey, in the order of the columns. The message begins with the column's
-- name and never quotes a value that may hold a secret (url, headers, bodies).
create or replace function postrider.admit_job(p_job postrider.jobs) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint
    from postrider.job_defect(p_job) d;
  if found and v_column is not null then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = v_column,
      message = format('jobs.%s: %s', v_column, v_reason), hint = v_hint;
  end if;
end
$$;
comment on function postrider.admit_job(postrider.jobs) is
  'private: raises PR001 for a job that breaks a rule';
