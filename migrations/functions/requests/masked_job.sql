-- SPDX-License-Identifier: Apache-2.0
-- after: requests/masked_json.sql, requests/masked_text.sql
-- All columns from which a request is built. A body of bytes that are no text stays: it has no names.
create or replace function postrider_internal.masked_job(p_job postrider.jobs, p_mask text, p_other text)
returns postrider.jobs
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_job.url := postrider_internal.url_with_masked_query(
    postrider_internal.url_with_masked_login(p_job.url, p_mask), '{}', p_mask);
  p_job.query := postrider_internal.masked_json(p_job.query, p_mask);
  p_job.headers := postrider_internal.masked_json(p_job.headers, p_mask);
  p_job.body_json := postrider_internal.masked_json(p_job.body_json, p_mask, p_other);
  p_job.body_form := postrider_internal.masked_json(p_job.body_form, p_mask);
  p_job.body_parts := (
    select jsonb_agg(case when e.value ? 'file' or not postrider_internal.is_secret_name(e.value ->> 'name')
                       then e.value else e.value - 'base64' || jsonb_build_object('content', p_mask) end
                     order by e.place)
      from jsonb_array_elements(p_job.body_parts) with ordinality e (value, place));
  begin
    p_job.body := convert_to(postrider_internal.masked_text(convert_from(p_job.body, 'UTF8'), p_mask, p_other), 'UTF8');
  exception when character_not_in_repertoire or untranslatable_character then
    null;
  end;
  return p_job;
end
$$;
comment on function postrider_internal.masked_job(postrider.jobs, text, text) is
  'the row of a job with p_mask for the secrets of its request, and p_other for secrets in JSON that are no texts';
