-- SPDX-License-Identifier: Apache-2.0
-- It has the columns of prepare, so the same code reads both, and a test compares the values. Columns without a
-- meaning for the bytes of a request are null. Then follow the facts that a worker has from enlist and claim.
--
-- Each secret is p_mask, and p_mask with an n behind it if it is a JSON value without quotes. The caller passes a text
-- that does not occur elsewhere, of letters and digits, so that no encoding changes it.
--
-- p_service_ticket proves that the caller may read services. Otherwise all values that the service adds are masked.
-- p_without_body: the body is empty. To mask a body of 1 MiB takes a second.
create or replace function postrider_internal.job_request(
  p_id bigint, p_ticket bytea, p_service_ticket bytea, p_mask text, p_without_body boolean default false)
returns table (
  job_id bigint, method text, url text, query text[], headers text[], body_kind "char", body bytea, form text[],
  timeout_ms int, max_response bigint, ok_statuses int[],
  idempotency_header text, gzip boolean, connect_ms int, first_byte_ms int, private_network boolean,
  proxy text, interface text, ca text, certificate text, key text, pins text[],
  keeps_cookies boolean, cookies text[], parts text[], part_bodies bytea[],
  download_to text, sha256 bytea, checks_xml boolean, is_judged boolean,
  has_hooks boolean, webhook_time bigint, has_pages boolean, server int, goes_on boolean,
  credential text, credential_kind text, credential_version bigint, sealed bytea, secrets text[], place text[],
  expensive text[], answer_options int, stub text[], service text, trace text[],
  key_prefix text, key_header text, rekey smallint, at_most_once boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  j postrider.jobs;
  s postrider.services;
  k postrider.credentials;
  g record;
  v_key bytea := (select t.secret from postrider_internal.ticket_key t);
  v_sees_service boolean := p_service_ticket is not distinct from postrider_internal.ticket(v_key, -p_id);
  v_other text := p_mask || 'n';
  v_base text;
  v_cookies boolean;
  v_place jsonb;
begin
  select * into j from postrider.jobs x
   where x.id = p_id and p_ticket is not distinct from postrider_internal.ticket(v_key, p_id);
  if not found then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  elsif j.kind <> 'request' then
    raise exception using errcode = 'PR005', message = format('job %s is a %s, which makes no request', p_id, j.kind),
      hint = 'Give the id of one of its members.';
  elsif j.parent_id is not null and postrider_internal.job_is_templated(j)
    and not exists (select from postrider_internal.filled_templates d where d.job_id = p_id) then
    raise exception using errcode = 'PR005', message = format('templates of job %s are not filled yet', p_id),
      hint = 'Its request is known once the steps before it have ended.';
  end if;
  j := postrider_internal.masked_job(case when p_without_body then postrider_internal.without_body(
    postrider_internal.filled_job(j)) else postrider_internal.filled_job(j) end, p_mask, v_other);
  select * into s from postrider.services x where x.name = j.service;
  select * into k from postrider.credentials x
   where x.name = postrider_internal.used_credential(j.credential, s.credential);
  v_base := coalesce(
    (select r.server from postrider_internal.results r where r.job_id = p_id),
    (select o.server from postrider_internal.outcomes o where o.job_id = p_id),
    postrider_internal.likely_server(j, s));
  s := postrider_internal.masked_service(s, j.url, v_sees_service, p_mask);
  v_base := postrider_internal.url_with_masked_login(v_base, p_mask);
  -- libcurl chooses among the lines of the jar by domain and path, and joins them with cookies of the job.
  v_cookies := s.cookies and exists (
    select from postrider_internal.cookies c
     where c.service = s.name and c.credential = coalesce(k.name, '')
       and c.login = coalesce((select r.login from postrider_internal.refreshes r where r.credential = k.name), 0));
  if v_cookies then
    j.headers := coalesce(j.headers, '{}') - array(
      select h from jsonb_object_keys(j.headers) h where lower(h collate "C") = 'cookie')
      || jsonb_build_object('Cookie', p_mask);
  end if;
  select p.* into g from postrider_internal.page_call(case when j.paginate is not null then j end) p;
  v_place := postrider_internal.used_place(k.place, coalesce(g.body_json, j.body_json),
                                           num_nonnulls(j.body_form, j.body_parts) > 0);
  job_id := p_id;
  method := j.method;
  url := coalesce(g.url, j.url);
  query := case
    when g.url is not null then postrider_internal.call_query(g.query, url, s.query)
    else postrider_internal.call_query(j.query, url, s.query) end;
  url := case when v_base is not null then postrider_internal.url_join(v_base, url)
              else postrider_internal.job_url(url, j.use_cdn, s) end;
  if g.url is not null then
    url := postrider_internal.url_with_masked_query(url, '{}', p_mask);
  end if;
  headers := postrider_internal.call_headers(
    coalesce(g.headers, j.headers),
    case when j.body_form is null then s.headers else postrider_internal.form_headers(s.headers) end);
  body_kind := case when j.body is not null then 'b' when j.body_json is not null then 'j'
    when j.body_form is not null then 'f' when j.body_parts is not null then 'p' else 'n' end;
  body := case when j.body is not null then j.body
    else postrider_internal.json_body(coalesce(g.body_json, j.body_json), v_place) end;
  form := postrider_internal.form_pairs(j.body_form);
  parts := postrider_internal.part_texts(j.body_parts);
  part_bodies := postrider_internal.part_bodies(j.body_parts);
  idempotency_header := s.idempotency_header;
  gzip := coalesce(s.gzip_request, false);
  proxy := s.proxy;
  interface := s.interface;
  ca := s.tls ->> 'ca';
  certificate := s.tls ->> 'certificate';
  key := s.tls ->> 'key';
  pins := case when s.tls ? 'pins' then array(select jsonb_array_elements_text(s.tls -> 'pins')) end;
  download_to := j.download_to;
  webhook_time := case when j.tag = 'webhook' and exists (
    select from postrider_internal.webhooks w where w.job_id = p_id)
    then extract(epoch from clock_timestamp())::bigint end;
  credential := k.name;
  credential_kind := k.kind;
  secrets := array['username', p_mask, 'password', p_mask, 'access_token', p_mask];
  place := case when k.name is not null then postrider_internal.credential_place(k.kind, v_place) end;
  select r.key_prefix, r.key_header, r.rekey, j.service into key_prefix, key_header, rekey, service
    from postrider_internal.request_key(p_id) r;
  at_most_once := j.delivery = 'at_most_once';
  return next;
end
$$;
comment on function postrider_internal.job_request(bigint, bytea, bytea, text, boolean) is
  'the request of a job as prepare builds it, with p_mask for each secret, for a caller with the ticket of the job';
