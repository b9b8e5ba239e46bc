-- SPDX-License-Identifier: Apache-2.0
-- A wildcard, a filter or the comparison of two paths may look at all pairs of two answers' elements, of which there may be a
-- million each. Unlike like_regex and very long paths, what is left here reads each answer once.
create or replace function postrider.run_if_is_light(p_run_if jsonpath) returns boolean
language sql immutable parallel safe
as $$
  select length(p_run_if::text) <= 500 and p_run_if::text !~ '[*?]|like_regex|keyvalue|[=<>][-+ (]*[$]'
$$;
comment on function postrider.run_if_is_light(jsonpath) is
  'private: whether a run_if can be told in a moment, however large the answers are; false: perhaps not';
