-- SPDX-License-Identifier: Apache-2.0
-- The stored size comes first: it needs no decompression, and a body of 64 MiB is not read for it.
create or replace function postrider_internal.has_large_body(p_job postrider.jobs, p_most int) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when greatest(pg_column_size(p_job.body), pg_column_size(p_job.body_json), pg_column_size(p_job.body_form),
                  pg_column_size(p_job.body_parts)) > p_most then true
    else greatest(octet_length(p_job.body), octet_length(p_job.body_json::text), octet_length(p_job.body_form::text),
                  octet_length(p_job.body_parts::text), 0) > p_most end
$$;
comment on function postrider_internal.has_large_body(postrider.jobs, int) is
  'whether the body of a job has more bytes than p_most, stored or as text';
