-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.filled_body_bytes(p_job bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select nullif(greatest(postrider_internal.body_bytes(postrider_internal.filled_job(j), 1073741824), 65536), 65536)
      from postrider.jobs j where j.id = p_job);
end
$$;
comment on function postrider_internal.filled_body_bytes(bigint) is
  'like large_body_bytes, for a member whose templates are filled';
