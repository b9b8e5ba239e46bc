-- SPDX-License-Identifier: Apache-2.0
-- Checks every rule for a row of jobs. The message begins with the name of the column. It never quotes a value that may
-- hold a secret (url, headers, bodies).
create or replace function postrider_internal.refuse_bad_job(p_job postrider.jobs) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_column_error('jobs', d.column_name, d.reason, d.hint)
    from postrider_internal.job_defect(p_job) d;
end
$$;
comment on function postrider_internal.refuse_bad_job(postrider.jobs) is
  'raises PR001 for a job that breaks a rule';
