-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines this function.
create or replace function postrider_internal.page_next_path(p_spec jsonb) returns jsonpath
language sql immutable parallel safe
as $$
  select case when p_spec ->> 'next' not like 'header:%' then (p_spec ->> 'next')::jsonpath end
$$;
comment on function postrider_internal.page_next_path(jsonb) is
  'the path of paginate.next in the body of an answer; null: it names a header, or is missing';
