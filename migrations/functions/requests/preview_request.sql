-- SPDX-License-Identifier: Apache-2.0
-- after: requests/masked_json.sql, requests/request_url.sql
-- Builds the request as prepare does, for a job that is not stored. p_ticket proves that the caller may read services;
-- otherwise all values that the service adds are masked.
create or replace function postrider_internal.preview_request(
  p_job postrider.jobs, p_ticket bytea,
  out method text, out url text, out headers jsonb, out body text, out body_kind text, out open text[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  j postrider.jobs := p_job;
  s postrider.services;
  k postrider.credentials;
  v_sees_service boolean := p_ticket is not distinct from (
    select postrider_internal.ticket(t.secret, 0) from postrider_internal.ticket_key t);
  v_applies boolean;
  v_base text;
  v_place jsonb;
  v_token text[];
  v_login boolean;
begin
  if j.operation is not null then
    j := postrider_internal.apply_operation(j);
  end if;
  select * into s from postrider.services x where x.name = j.service;
  select * into k from postrider.credentials x
   where x.name = postrider_internal.used_credential(j.credential, s.credential);
  v_applies := s.name is not null and postrider_internal.service_applies(j.url, s);
  v_base := coalesce(
    postrider_internal.likely_server(j, s),
    case when j.use_cdn then coalesce(s.cdn_url, s.base_url) else s.base_url end);
  v_place := postrider_internal.used_place(k.place, j.body_json, num_nonnulls(j.body_form, j.body_parts) > 0);
  v_token := case when k.name is null then array['nowhere', '', '']
    else postrider_internal.credential_place(k.kind, v_place) end;
  v_login := coalesce(postrider_internal.url_join(v_base, j.url), j.url) ~ E'^[A-Za-z]+://[^/?#]*@';
  open := postrider_internal.preview_open(j, s, v_applies);

  method := j.method;
  url := postrider_internal.request_url(
    j.url, j.query, v_base, case when v_applies then s.query end, v_sees_service,
    case when v_token[1] = 'query' then v_token[2] end);
  j := postrider_internal.masked_job(j, '***', '***');
  s := postrider_internal.masked_service(s, j.url, v_sees_service, '***');
  if v_token[1] = 'json' then
    j.body_json := coalesce(j.body_json, '{}') || jsonb_build_object(v_token[2], '***');
  elsif v_token[1] = 'form' and j.body_parts is null then
    j.body_form := coalesce(j.body_form, '{}') - v_token[2] || jsonb_build_object(v_token[2], '***');
  elsif v_token[1] = 'form' then
    j.body_parts := j.body_parts || jsonb_build_array(jsonb_build_object('name', v_token[2], 'content', '***'));
  end if;
  body_kind := case when j.body is not null then 'bytes' when j.body_json is not null then 'json'
    when j.body_form is not null then 'form' when j.body_parts is not null then 'parts' else 'none' end;
  body := case body_kind
    when 'json' then j.body_json::text
    when 'form' then postrider_internal.form_text(j.body_form)
    when 'parts' then postrider_internal.parts_preview(j.body_parts)
    when 'bytes' then postrider_internal.bytes_text(j.body) end;

  select jsonb_object_agg(h.name, case when cardinality(h.values) = 1 then to_jsonb(h.values[1])
                                  else to_jsonb(h.values) end)
    into headers
    from (select (array_agg(p.name order by p.place))[1] as name, array_agg(p.value order by p.place) as values
            from (select a.pairs[2 * n - 1] as name, a.pairs[2 * n] as value, n as place
                    from (select postrider_internal.call_headers(j.headers, case when j.body_form is null then s.headers
                                   else postrider_internal.form_headers(s.headers) end) as pairs) a
                   cross join generate_series(1, cardinality(a.pairs) / 2) n) p
           where not (j.body_parts is not null and lower(p.name collate "C") = 'content-type')
             and not (v_token[1] = 'header' and lower(p.name collate "C") = lower(v_token[2] collate "C"))
           group by lower(p.name collate "C")) h;
  headers := coalesce(headers, '{}') || case when v_token[1] = 'header'
    then jsonb_build_object(v_token[2], v_token[3] || '***') else '{}' end;
  if v_login and not jsonb_path_exists(headers, '$.keyvalue() ? (@.key like_regex "^authorization$" flag "i")') then
    headers := headers || '{"Authorization": "Basic ***"}';
  end if;
  if body_kind in ('json', 'form', 'parts')
     and not jsonb_path_exists(headers, '$.keyvalue() ? (@.key like_regex "^content-type$" flag "i")') then
    headers := headers || jsonb_build_object('Content-Type', case body_kind
      when 'json' then 'application/json' when 'form' then 'application/x-www-form-urlencoded'
      else 'multipart/form-data; boundary=preview' end);
  end if;
end
$$;
comment on function postrider_internal.preview_request(postrider.jobs, bytea) is
  'the request of a job that is not stored, with *** for secrets, and what is only known later';
