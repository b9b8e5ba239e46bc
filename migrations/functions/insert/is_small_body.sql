-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_small_json.sql
-- PostgreSQL inlines this function. 64 KiB is the lowest value of settings.max_request_body, so such a body needs no
-- check against the settings. A form carries the names of outer objects in each field, so a form of 400 bytes has at
-- most 60,000 as it is sent.
create or replace function postrider_internal.is_small_body(p_job postrider.jobs) returns boolean
language sql stable parallel safe
as $$
  select coalesce(octet_length(p_job.body), 0) <= 65536
     and (p_job.body_json is null or postrider_internal.is_small_json(p_job.body_json))
     and (p_job.body_form is null or octet_length(p_job.body_form::text) <= 400)
     and p_job.body_parts is null
$$;
comment on function postrider_internal.is_small_body(postrider.jobs) is
  'whether a body has at most 64 KiB by quick checks; if false, body_bytes decides';
