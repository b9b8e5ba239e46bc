-- SPDX-License-Identifier: Apache-2.0
-- After a network failure an at_most_once job fails only if nothing was sent. After other failures, the answer or the
-- number of bytes sent decides. With 408, 420, 425 and 429 a server says that it has not acted. This does not hold if
-- the job counts these statuses as a success.
--
-- Earlier attempts count only if they ended the job before a user retried it. The server has not acted on attempts that
-- the worker itself repeated.
create or replace function postrider_internal.can_have_acted(p_result postrider_internal.results) returns boolean
language sql stable
as $$
  select coalesce(bool_or(case a.state
    when 'u' then true
    when 's' then true
    when 'f' then case
      when a.status_code is not null then
        (a.status_code in (408, 420, 425, 429) and a.error_code in ('http_status', 'http_429')) is not true
      else coalesce(a.bytes_sent, 0) > 0
           and (select e.class <> 'network' from postrider.error_codes e where e.code = a.error_code) end
    else false end), false)
    from (select nullif(p_result.state, 's') as state, p_result.status_code, p_result.bytes_sent, p_result.error_code
          union all
          select t.ended_as, t.status_code, t.bytes_sent, t.error_code from postrider_internal.past_attempts t
            where t.job_id = p_result.job_id) a
$$;
comment on function postrider_internal.can_have_acted(postrider_internal.results) is
  'whether the server may have acted on an unsuccessful at_most_once job, so that only a user may send it again';
