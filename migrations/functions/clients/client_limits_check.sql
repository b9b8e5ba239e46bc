-- SPDX-License-Identifier: Apache-2.0
-- The role may be missing, because a restore may bring the table before the roles.
create or replace function postrider_internal.client_limits_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  select d.c, d.r, d.h into v_column, v_reason, v_hint from (values
    (new.role is null or new.role = '' or octet_length(new.role) > 63,
     'role', 'must have 1 to 63 bytes',
     'Give the name of a role that inserts jobs, or * for each client without a row.'),
    (new.max_unfinished < 0,
     'max_unfinished', 'must not be negative',
     'Give the most unfinished requests, 0 to refuse all, or null for no limit.'),
    (new.max_lanes < 0,
     'max_lanes', 'must not be negative', 'Give the most lanes with unfinished requests, or null for no limit.'),
    (not postrider_internal.is_priority(new.min_priority),
     'min_priority', 'must be -100 to 100', 'Give the lowest priority of the client''s jobs, or null for no limit.'),
    (not postrider_internal.is_priority(new.max_priority),
     'max_priority', 'must be -100 to 100', 'Give the highest priority of the client''s jobs, or null for no limit.'),
    (new.max_priority < new.min_priority,
     'max_priority', 'is below min_priority', 'Give a value from min_priority on.'),
    (new.max_timeout <= interval '0' or new.max_timeout > interval '24 hours',
     'max_timeout', 'must be more than 0 and at most 24 hours', 'Like ''60 s''; null for no limit.'),
    (new.max_request_body < 0,
     'max_request_body', 'must not be negative', 'Give a number of bytes, or null for no limit.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  perform postrider_internal.raise_column_error('client_limits', v_column, v_reason, v_hint);
  return new;
end
$$;
comment on function postrider_internal.client_limits_check() is
  'row trigger of client_limits: refuses invalid values with the name of their column';

create or replace trigger client_limits_check
  before insert or update on postrider.client_limits
  for each row execute function postrider_internal.client_limits_check();
