-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
create or replace function postrider.retry_failed(
  queue text default null, error_code text default null, since timestamptz default null, tag text default null,
  lane text default null,
  error_name text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if retry_failed.error_code is not null
     and not exists (select from postrider.error_codes e where e.code = retry_failed.error_code) then
    raise exception using errcode = 'PR001', column = 'error_code',
      message = format('error_code: %s is not an error code', quote_literal(retry_failed.error_code)),
      hint = 'See select code, meaning from postrider.error_codes; null means any.';
  elsif retry_failed.since > clock_timestamp() then
    raise exception using errcode = 'PR001', column = 'since',
      message = 'since: is in the future',
      hint = 'Give a past time, like now() - interval ''2 hours''; null means any.';
  end if;
  return postrider_internal.retry_failed_step(
    postrider_internal.find_failed_jobs(
      p_queues => case when retry_failed.queue is not null then array[retry_failed.queue] end,
      p_lane => retry_failed.lane, p_tag => retry_failed.tag, p_error_code => retry_failed.error_code,
      p_error_name => retry_failed.error_name, p_since => retry_failed.since));
end
$$;
comment on function postrider.retry_failed(text, text, timestamptz, text, text, text) is
  'retries failed jobs that match all filters (null: any); returns how many; a batch or chain counts once';
