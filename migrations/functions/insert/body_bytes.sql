-- SPDX-License-Identifier: Apache-2.0
-- after: insert/json_bytes.sql
-- The size of body is known without reading it.
create or replace function postrider_internal.body_bytes(p_job postrider.jobs, p_most bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.body is not null then
    return octet_length(p_job.body);
  elsif p_job.body_json is not null then
    return postrider_internal.json_bytes(p_job.body_json, p_most);
  elsif p_job.body_form is not null then
    if postrider_internal.json_bytes(p_job.body_form, p_most) > p_most then
      return p_most + 1;
    end if;
    return least(postrider_internal.form_size(p_job.body_form), 9e18);
  elsif p_job.body_parts is not null then
    return postrider_internal.parts_bytes(p_job.body_parts);
  end if;
  return 0;
end
$$;
comment on function postrider_internal.body_bytes(postrider.jobs, bigint) is
  'how many bytes the body of a job has as it is sent; above p_most it may be any larger number';
