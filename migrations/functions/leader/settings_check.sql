-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.settings_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  select d.c, d.r, d.h into v_column, v_reason, v_hint
    from postrider_internal.key_header_defect(new.idempotency_header) k
   cross join lateral (values
    (new.installation is null, 'installation', 'must not be null',
     'It identifies this fleet; leave it unchanged.'),
    (new.idempotency_header is null, 'idempotency_header', 'must not be null', 'Its default is Idempotency-Key.'),
    (k.reason is not null, 'idempotency_header', k.reason, k.hint),
    ((new.cache_max_bytes >= 0) is not true,
     'cache_max_bytes', 'must be a number of bytes from 0 on',
     'Like 268435456, 256 MiB, its default; 0 keeps nothing.'),
    ((new.max_request_body between 65536 and 536870912) is not true,
     'max_request_body', 'must be a number of bytes from 65536 (64 KiB) to 536870912 (512 MiB)',
     'Like 16777216, 16 MiB, its default.'),
    (new.retention <= interval '0' or new.retention > interval '100 years',
     'retention', 'must be more than 0 and at most 100 years', 'Like 30 days, its default; null never deletes jobs.'),
    (new.failed_retention <= interval '0' or new.failed_retention > interval '100 years',
     'failed_retention', 'must be more than 0 and at most 100 years',
     'Like 90 days, its default; null never deletes failed jobs.'),
    ((new.judge_timeout between interval '10 ms' and interval '1 min') is not true,
     'judge_timeout', 'must be from 10 ms to 1 min', 'Like 2 s, its default; workers read it when they register.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  perform postrider_internal.raise_column_error('settings', v_column, v_reason, v_hint);
  return new;
end
$$;
comment on function postrider_internal.settings_check() is
  'row trigger of settings: refuses invalid values with the name of their column';

create or replace trigger settings_check
  before insert or update on postrider.settings
  for each row execute function postrider_internal.settings_check();
