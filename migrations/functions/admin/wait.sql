-- SPDX-License-Identifier: Apache-2.0
-- after: views/job_status.sql
-- Runs as the caller, like cancel. A numbered file that drops job_status must drop this function first.
--
-- Each statement of a volatile function has a snapshot of its own under read committed, so a poll sees what others have
-- committed meanwhile. Under repeatable read all polls would have the first snapshot.
--
-- The first pause is 5 ms, because a fast API answers in about 10 ms. Each pause is 1.5 times the one before. So an
-- end is noticed at most half as late again as the job has taken. From 250 ms on the pauses are equal. A thousand open
-- waits then make 4,000 polls a second, of 40 µs each (PostgreSQL 15, 2 cores).
create or replace function postrider.wait(id bigint, timeout interval) returns setof postrider.job_status
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ticket bytea;
  v_end timestamptz := clock_timestamp() + wait.timeout;
  v_pause double precision := 0.005;
  v_left double precision;
begin
  perform postrider_internal.raise_null_argument('id', wait.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  perform postrider_internal.raise_null_argument('timeout', wait.timeout is null, 'Like ''30 s''.');
  if wait.timeout not between interval '0' and interval '5 min' then
    raise exception using errcode = 'PR001', column = 'timeout', message = 'timeout: must be from 0 to 5 minutes',
      hint = 'Like ''30 s''. To wait longer, commit and call wait again.';
  elsif current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
    raise exception using errcode = '25000',
      message = format('wait sees no end of a job under %s', current_setting('transaction_isolation')),
      hint = 'Call it under read committed.';
  end if;
  v_ticket := (select t.ticket from postrider_internal.tickets t where t.id = wait.id);
  perform postrider_internal.check_wait(wait.id, v_ticket);
  loop
    if postrider_internal.has_ended(wait.id, v_ticket) then
      return query select * from postrider.job_status s where s.id = wait.id and s.finished_at is not null;
      -- No row: retry has begun the job again between the two statements.
      if found then
        return;
      end if;
    end if;
    v_left := extract(epoch from v_end - clock_timestamp());
    exit when v_left <= 0;
    perform pg_sleep(least(v_pause, v_left));
    v_pause := least(v_pause * 1.5, 0.25);
  end loop;
end
$$;
comment on function postrider.wait(bigint, interval) is
  'returns the job_status row once the job has ended, no row at the timeout; its transaction stays open meanwhile';
