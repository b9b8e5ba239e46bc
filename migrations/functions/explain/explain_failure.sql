-- SPDX-License-Identifier: Apache-2.0
-- A batch or chain fails by a member, which may itself fail by a member. The sentence names each of them and ends with
-- the error of the last.
create or replace function postrider_internal.explain_failure(p_id bigint,
                                                              p_result postrider_internal.results) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at bigint := p_id;
  v_member postrider.jobs;
  v_result postrider_internal.results := p_result;
  v_text text := '';
begin
  for v_depth in 1 .. 32 loop
    select j.* into v_member
      from postrider_internal.trees t join postrider.jobs j on j.id = t.failed_job_id
     where v_result.error_code = 'child_failed' and t.job_id = v_at;
    exit when not found;
    select r.* into v_result from postrider_internal.results r where r.job_id = v_member.id;
    v_at := v_member.id;
    v_text := v_text || format(' because its %s %s%s %s', case when v_member.kind = 'request' then 'member'
                               else v_member.kind end, v_at,
      ' ' || quote_literal(left(v_member.name, 200)),
      coalesce(case v_result.state when 'u' then 'ended with an unknown outcome'
        else postrider_internal.state_name(v_result.state) end, 'failed'));
  end loop;
  return v_text || case
    when v_result.error_code = 'child_failed' then case when v_at = p_id then ': ' || v_result.error else '' end
    else format('%s: %s (%s)',
           case when v_result.attempt > 0
             then format(' after %s attempt%s', v_result.attempt, case when v_result.attempt > 1 then 's' end)
               else '' end,
           rtrim(v_result.error, '.'),
           v_result.error_code || postrider_internal.deciding_rule(v_at, v_result.fence, ', by rule ')) end;
end
$$;
comment on function postrider_internal.explain_failure(bigint, postrider_internal.results) is
  'how a job came to its error, for explain: the words after "failed at …"';
