-- SPDX-License-Identifier: Apache-2.0
-- One job's success may be another's failure, and only successes are served: what the server's own answer would not be
-- to this job, the stored one is not either. Only a worker can tell whether a body is well-formed XML, and it did so
-- for the job that stored it, or nobody did. Inlined by the planner (no query, no set): most jobs pay three
-- comparisons.
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
  'whether a job accepts the status, the length and the kind of an answer that is kept; null while there is none';
