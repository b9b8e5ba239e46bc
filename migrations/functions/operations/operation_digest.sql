-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.operation_digest(p_operation postrider.operations) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select sha256(convert_to(jsonb_build_array(
           p_operation.service, p_operation.description, p_operation.arguments, p_operation.spec,
           p_operation.overridable)::text, 'UTF8'))
$$;
comment on function postrider_internal.operation_digest(postrider.operations) is
  'a digest of the columns that a user may change';
