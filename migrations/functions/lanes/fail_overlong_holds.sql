-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Attempts that the server asked to repeat later (verdicts w and d) are not counted, so other limits must end them.
-- These limits are expires_at, and max_wait of the service, counted from the first such answer to this attempt number.
--
-- A job that the database refuses to prepare (verdict b) fails after 15 minutes.
--
-- Attempts with the same number are those that were not counted. A new page between them begins a new count.
create or replace function postrider_internal.fail_overlong_holds(p_worker int,
                                                                  p_attempts postrider_internal.finished_attempt[])
returns postrider_internal.finished_attempt[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at int;
  v_attempt postrider_internal.finished_attempt;
  v_expires timestamptz;
  v_wait interval;
  v_first timestamptz;
begin
  for v_at in select x.ordinality from unnest(p_attempts) with ordinality x where x.verdict in ('w', 'd') loop
    v_attempt := p_attempts[v_at];
    select r.expires_at, coalesce(s.max_wait, interval '24 hours'), t.first into v_expires, v_wait, v_first
      from (select r.* from postrider_internal.ready r
             where r.track = v_attempt.track and r.seq = v_attempt.seq and r.fence = v_attempt.fence
               and r.worker = p_worker offset 0) r
     cross join lateral (select j.service from postrider.jobs j where j.id = r.job_id offset 0) j
      left join postrider.services s on s.name = j.service
     cross join lateral (
           select min(o.started_at) as first from postrider_internal.throttled_attempts(r.job_id, r.attempt) o) t;
    continue when not found;
    if v_expires <= now() then
      p_attempts[v_at].verdict := 'f';
      p_attempts[v_at].error := v_attempt.error || '; no time was left for another attempt';
    -- Not `now() - v_wait`: older rows may hold a max_wait of thousands of years, and that difference would be out of
    -- range.
    elsif now() - v_first >= v_wait then
      p_attempts[v_at].verdict := 'f';
      p_attempts[v_at].error := v_attempt.error || format('; the job has waited since %s, longer than max_wait (%s)',
        to_char(v_first, 'YYYY-MM-DD HH24:MI:SS TZ'), v_wait);
    end if;
  end loop;
  for v_at in select x.ordinality from unnest(p_attempts) with ordinality x where x.verdict = 'b' loop
    -- The waits before the 36th refusal add up to 15 minutes. They count only while the database prepares other jobs.
    if postrider_internal.refusals_in_row(p_attempts[v_at].job_id) >= 35 then
      p_attempts[v_at].verdict := 'f';
      p_attempts[v_at].error := 'the database refused to prepare this call for 15 minutes while it prepared others; '
        'see the log of the workers for its error';
    end if;
  end loop;
  return p_attempts;
end
$$;
comment on function postrider_internal.fail_overlong_holds(int, postrider_internal.finished_attempt[]) is
  'the attempts; those that would wait for their lane or another preparation fail if their time is over';
