-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.merge_headers(p_headers jsonb, p_given jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select case
    when jsonb_typeof(p_given) <> 'object' then p_given
    when p_headers is null and jsonb_path_exists(p_given, 'strict $.* ? (@ == null)') is not true then p_given
    else nullif((
      select coalesce(jsonb_object_agg(h.key, h.value), '{}')
        from (select k.key, k.value from jsonb_each(p_headers) k
               where not exists (select from jsonb_object_keys(p_given) g
                                  where lower(g collate "C") = lower(k.key collate "C"))
              union all
              select k.key, k.value from jsonb_each(p_given) k where k.value <> 'null') h), '{}') end
$$;
comment on function postrider_internal.merge_headers(jsonb, jsonb) is
  'headers of an operation and of its job by name, without regard to case; the job''s win, a null takes one away';
