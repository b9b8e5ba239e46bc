-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- An attempt that extends a file does not count towards max_attempts. So a download that breaks off after a few bytes
-- again and again ends after twenty such attempts in a row. An attempt that brings 64 KiB begins a new count. So does
-- an attempt with another number, for example after a retry.
create or replace function postrider_internal.fail_stuck_downloads(p_attempts postrider_internal.finished_attempt[])
returns postrider_internal.finished_attempt[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at int;
  v_small int;
begin
  for v_at in select x.ordinality from unnest(p_attempts) with ordinality x where x.verdict = 'l' loop
    select count(*) into v_small
      from postrider_internal.past_attempts t
      join postrider_internal.ready r on r.job_id = t.job_id and r.attempt = t.attempt
     where r.track = p_attempts[v_at].track and r.seq = p_attempts[v_at].seq and r.fence = p_attempts[v_at].fence
       and t.gained_little
       and t.fence > coalesce((
             select max(p.fence) from postrider_internal.past_attempts p
               where p.job_id = r.job_id and p.attempt = r.attempt and not p.gained_little), 0);
    if v_small >= 19 then
      p_attempts[v_at].verdict := 'f';
      p_attempts[v_at].error := p_attempts[v_at].error
        || '; 20 attempts in a row brought less than 64 KiB each';
    end if;
  end loop;
  return p_attempts;
end
$$;
comment on function postrider_internal.fail_stuck_downloads(postrider_internal.finished_attempt[]) is
  'the attempts; a download fails if twenty attempts in a row brought less than 64 KiB each';
