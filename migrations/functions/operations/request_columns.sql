-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.request_columns() returns text[]
language sql immutable parallel safe
as $$
  select '{service,method,url,use_cdn,query,body,body_json,body_form,body_parts,credential,use_envelope,download_to}'::text[]
$$;
comment on function postrider_internal.request_columns() is
  'the columns that a job with an operation may give only if operations.overridable lists them';
