-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.each_item(p_job bigint) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive up (parent_id, item) as (
    select m.parent_id, m.item from postrider_internal.members m where m.job_id = p_job
    union all
    select m.parent_id, m.item from up u join postrider_internal.members m on m.job_id = u.parent_id
      where u.item is null
  )
  select u.item from up u where u.item is not null
$$;
comment on function postrider_internal.each_item(bigint) is
  'the element that a job or its nearest ancestor was made for; null: none';
