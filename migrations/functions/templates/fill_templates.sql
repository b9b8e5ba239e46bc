-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Called once, when the turn of the job comes; all attempts send the same request. Answers of other jobs must never
-- roll back the batch of this job, so their errors are caught. An error sentence never shows a value.
create or replace function postrider_internal.fill_templates(
  p_job postrider.jobs, p_is_cheap_only boolean default false, out code text, out defect text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_templates text[];
  v_places text[];
  v_values jsonb := '{}';
  v_service postrider.services;
  v_filled postrider_internal.filled_templates;
  v_found record;
  v_most bigint;
begin
  if postrider_internal.job_is_templated(p_job) is not true then
    return;
  end if;
  begin
    select array_agg(t.template order by t.template), array_agg(t.place order by t.template) into v_templates, v_places
      from (select distinct on (p.part) p.part as template,
                   concat_ws('.', j.column_name, nullif(array_to_string(j.path, '.'), '')) as place
              from postrider_internal.job_templates(p_job) j
             cross join lateral unnest(postrider_internal.template_parts(j.value)) with ordinality as p(part, place)
             where p.place % 2 = 0) t;
    if v_templates is not null then
      v_values := postrider_internal.template_values(p_job.id, v_templates, v_places, 16777216, p_is_cheap_only);
    end if;
    perform postrider_internal.check_filled_arguments(p_job.arguments, p_job.argument_types, v_values);
    v_filled.job_id := p_job.id;
    if p_job.url like '%{{%' then
      select s.* into v_service from postrider.services s where s.name = p_job.service;
      v_filled.url := postrider_internal.fill_url(p_job.url, p_job.use_cdn, v_service, array(
        select t.base_url from postrider_internal.server_routes t
         where t.service = v_service.name and not (p_job.use_cdn and v_service.cdn_url is not null)), v_values);
      if p_job.paginate is not null then
        defect := postrider_internal.page_argument(p_job.paginate, v_filled.url, null);
      end if;
      if defect is not null then
        raise exception using errcode = 'PR009',
          message = format('url: with its templates filled it sets the argument %s, which paginate '
          'sets too; remove it from the URL or from paginate', defect);
      end if;
    end if;
    v_filled.query := case when p_job.query::text like '%{{%'
                           then postrider_internal.fill_json('query', p_job.query, v_values, 'q') end;
    if p_job.headers::text like '%{{%' then
      v_filled.headers := postrider_internal.fill_json('headers', p_job.headers, v_values, 't');
    end if;
    for v_found in select p.path, p.value from postrider_internal.template_places(p_job.headers) p
      where v_filled.headers is not null loop
      if (postrider_internal.headers_defect(jsonb_build_object('X', v_filled.headers #> v_found.path))).reason
        is not null then
        code := 'bad_header';
        defect := format('headers.%s: with %s filled it holds a line break or control character, or is longer than 8000 bytes; '
          'a header is one line', array_to_string(v_found.path, '.'),
          (select string_agg(format('{{%s}}', p.part), ', ' order by p.place)
             from unnest(postrider_internal.template_parts(v_found.value)) with ordinality as p(part, place)
               where p.place % 2 = 0));
        return;
      end if;
    end loop;
    if p_job.body_json::text like '%{{%' then
      v_filled.body_json := postrider_internal.fill_json('body_json', p_job.body_json, v_values, 'j');
      if p_job.paginate ->> 'in' = 'body' then
        defect := postrider_internal.page_body_defect(p_job.paginate, v_filled.body_json, false);
      end if;
      if defect is not null then
        raise exception using errcode = 'PR009',
          message = format('paginate: with the templates of the job filled, %s', defect);
      end if;
    end if;
    if p_job.body_form::text like '%{{%' then
      v_filled.body_form := postrider_internal.fill_json('body_form', p_job.body_form, v_values, 'f');
    end if;
    if p_job.body_parts::text like '%{{%' then
      v_filled.body_parts := postrider_internal.fill_json('body_parts', p_job.body_parts, v_values, 't');
    end if;
    if v_filled.body_parts is not null then
      defect := 'body_parts: with its templates filled '
        || (postrider_internal.parts_defect(v_filled.body_parts)).reason;
    end if;
    if defect is not null then
      code := case when defect like '%line break%' then 'bad_header' else 'template' end;
      return;
    end if;
    if num_nonnulls(v_filled.body_json, v_filled.body_form, v_filled.body_parts) > 0 then
      p_job.body_json := coalesce(v_filled.body_json, p_job.body_json);
      p_job.body_form := coalesce(v_filled.body_form, p_job.body_form);
      p_job.body_parts := coalesce(v_filled.body_parts, p_job.body_parts);
      if postrider_internal.is_small_body(p_job) is not true then
        v_most := (select s.max_request_body from postrider.settings s);
        if postrider_internal.body_bytes(p_job, v_most) > v_most then
          code := 'too_large';
          defect := format('%s: with its templates filled it has more than the %s bytes that settings.max_request_body allows',
            case when p_job.body_json is not null then 'body_json' when p_job.body_form is not null then 'body_form'
              else 'body_parts' end, v_most);
          return;
        end if;
      end if;
    end if;
    insert into postrider_internal.filled_templates select v_filled.*
        on conflict (job_id) do update
           set url = excluded.url, query = excluded.query, headers = excluded.headers, body_json = excluded.body_json,
               body_form = excluded.body_form, body_parts = excluded.body_parts;
  exception
    when sqlstate 'PR009' then
      code := 'template';
      defect := sqlerrm;
    when data_exception or program_limit_exceeded or statement_too_complex or internal_error then
      code := 'template';
      defect := format('the templates of the job cannot be filled (SQLSTATE %s); the values may be too large or nested too deeply', sqlstate);
  end;
end
$$;
comment on function postrider_internal.fill_templates(postrider.jobs, boolean) is
  'fills the templates of a member and stores the values in filled_templates; otherwise error code and sentence';
