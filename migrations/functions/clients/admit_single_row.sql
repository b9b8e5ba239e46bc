-- SPDX-License-Identifier: Apache-2.0
-- after: clients/find_limit_defect.sql, insert/body_bytes.sql
-- For the fast branch of queue_new_jobs: a single row without a service, a timeout or a file. If it exceeds a limit,
-- queue_new_jobs takes the slow branch, which raises the error.
create or replace function postrider_internal.admit_single_row(
  p_role text, p_id bigint, p_priority smallint, p_body bytea, p_json jsonb, p_lane text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bigint := octet_length(p_body);
  v_column text;
begin
  if p_json is not null then
    v_bytes := postrider_internal.json_bytes(p_json,
                                             coalesce((select max(l.max_request_body) from postrider.client_limits l),
                                                      0));
  end if;
  select a.column_name into v_column
    from postrider_internal.find_limit_defect(
           p_role, 1, p_id, p_id, p_priority, p_priority, '60 s', false, v_bytes, false, array[p_lane], array[1]) a;
  return v_column is null;
end
$$;
comment on function postrider_internal.admit_single_row(text, bigint, smallint, bytea, jsonb, text) is
  'whether the limits of its client admit a single row; if so, records it for the leader';
