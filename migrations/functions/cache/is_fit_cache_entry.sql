-- SPDX-License-Identifier: Apache-2.0
-- A success for one job may be a failure for another, and only successes serve. If the job would not accept this answer
-- from the server, it does not accept the stored one. Only a worker can check whether a body is well-formed XML, and it
-- did so only if the job that stored the answer asked for XML.
--
-- The planner inlines this function (no query, no set), so most jobs pay three comparisons.
create or replace function postrider_internal.is_fit_cache_entry(
  p_status int, p_length int, p_is_xml boolean, p_ok_statuses int4multirange, p_max_response bigint,
  p_response_format text)
returns boolean
language sql immutable parallel safe
as $$
  select case when p_ok_statuses is null then p_status between 200 and 299 else p_ok_statuses @> p_status end
     and (p_max_response is null or p_length is null or p_length <= p_max_response)
     and (p_is_xml or p_response_format <> 'xml')
$$;
comment on function postrider_internal.is_fit_cache_entry(int, int, boolean, int4multirange, bigint, text) is
  'whether a job accepts status, length and kind of a cached answer; null without an answer';
