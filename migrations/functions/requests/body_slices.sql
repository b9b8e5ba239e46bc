-- SPDX-License-Identifier: Apache-2.0
-- In slices, because libpq keeps a buffer as large as the longest row for the rest of the connection.
create or replace function postrider_internal.body_slices(p_jobs bigint[]) returns table (job_id bigint, slice bytea)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_body bytea;
begin
  for job_id, v_body in
    select j.id, case when j.body is not null then j.body || ''::bytea else postrider_internal.json_body(
             coalesce(g.body_json, d.body_json, j.body_json),
             postrider_internal.used_place(k.place, coalesce(g.body_json, d.body_json, j.body_json), false)) end
      from unnest(p_jobs) x (job)
      join postrider.jobs j on j.id = any (array[x.job])
      left join postrider.services s on s.name = j.service
      left join postrider_internal.filled_templates d on d.job_id = j.id and j.parent_id is not null
      left join lateral postrider_internal.page_call(case when j.paginate is not null
                                                     then postrider_internal.filled_job(j) end) g on true
      left join postrider.credentials k on k.name = postrider_internal.used_credential(j.credential, s.credential)
  loop
    for v_from in 1 .. octet_length(v_body) by 262144 loop
      slice := substring(v_body from v_from for 262144);
      return next;
    end loop;
  end loop;
end
$$;
comment on function postrider_internal.body_slices(bigint[]) is
  'the bodies of requests in slices of 256 KiB, in order';
