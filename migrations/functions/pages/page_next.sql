-- SPDX-License-Identifier: Apache-2.0
-- p_job: as page_job returns it. A page number grows by one, an offset by p_count, the items of this page. If `next` is
-- given too, it only decides whether to go on. These mean no: null, false, an empty text, and a missing value. The text
-- `false` or `null` in a header, and an empty list or object as a cursor, mean no too.
--
-- A link loses the arguments that the service adds to each call. They are added again, and a key among them must not be
-- stored in the table of pages. The same holds for the token of a credential in the query.
--
-- p_landed: the target of redirects, if it is another URL of the same origin or its https form. A relative link begins
-- there (RFC 3986, 5.1.3).
create or replace function postrider_internal.page_next(
  p_job postrider.jobs, p_service postrider.services, p_last postrider_internal.fetched_pages, p_count int,
  p_headers bytea, p_body bytea, p_encoding text, p_landed text,
  out next text, out cursor jsonb, out target text, out code text, out error text)
language plpgsql stable
as $$
declare
  v_spec jsonb := p_job.paginate;
  v_style text := v_spec ->> 'style';
  v_found jsonb;
  v_called text;
  v_base text;
  v_added text[];
  v_token text;
begin
  if v_spec ->> 'next' like 'header:%' then
    v_found := to_jsonb(btrim((regexp_match(postrider_internal.header_text(p_headers),
      '^' || regexp_replace(substr(v_spec ->> 'next', 8), '([^A-Za-z0-9_-])', E'\\\\\\1', 'g') || E':([^\\n]*)$',
      'in'))[1], E' \t'));
    if lower((v_found #>> '{}') collate "C") in ('null', 'false') then
      return;
    end if;
  elsif v_spec ? 'next' then
    v_found := jsonb_path_query_first(
      postrider_internal.answer_text(p_body, p_encoding)::jsonb, (v_spec ->> 'next')::jsonpath, '{}', true);
  end if;
  if v_spec ? 'next' and (v_found is null or v_found in ('null', 'false', '""') or v_style = 'cursor'
                          and v_found in ('{}', '[]')) then
    return;
  end if;

  if v_style in ('page', 'offset') then
    next := coalesce(p_last.next, v_spec ->> 'start', case v_style when 'page' then '1' else '0' end)::bigint
      + case v_style when 'page' then 1 else p_count end;
    cursor := next::jsonb;
    return;
  end if;

  next := v_found #>> '{}';
  if v_style = 'link' and jsonb_typeof(v_found) in ('object', 'array', 'boolean') then
    code := 'no_data';
    error := format('paginate.next finds %s instead of a link',
      case jsonb_typeof(v_found) when 'object' then 'an object' when 'array' then 'a list' else 'true' end);
  elsif length(next) > 4000 then
    code := 'bad_url';
    error := 'the link or cursor of the next page is longer than 4000 characters';
  elsif v_spec ->> 'in' = 'header' and (postrider_internal.headers_defect(jsonb_build_object('X', next))).reason
    is not null then
    code := 'bad_header';
    error := 'the next cursor holds a line break or control character, or is longer than 8000 bytes; a header cannot carry it';
  end if;
  if code is not null then
    next := left(regexp_replace(next, E'[\\x01-\\x1f\\x7f]+', ' ', 'g'), 2000);
    return;
  elsif v_style = 'cursor' then
    cursor := v_found;
    return;
  end if;

  if not v_spec ? 'next' then
    next := postrider_internal.link_next(p_headers);
    if next is null then
      return;
    end if;
  end if;
  v_called := postrider_internal.url_without_login(postrider_internal.job_url(p_job.url, p_job.use_cdn, p_service));
  next := postrider_internal.url_without_login(postrider_internal.url_resolve(coalesce(p_landed, v_called), next));
  if postrider_internal.url_is_upgrade(next, v_called) then
    -- Servers behind a TLS proxy often do not know that they are called by https.
    next := regexp_replace(next, E'^http://(\\[[^]]*\\]|[^:/?#]*)(:80)?', E'https://\\1', 'i');
  end if;
  if p_service.query is not null and postrider_internal.service_applies(p_job.url, p_service) then
    select array_agg(lower(c.pair collate "C")) into v_added
      from (select postrider_internal.pairs(p_service.query) as pairs) a
     cross join generate_series(1, cardinality(a.pairs), 2) n
     cross join lateral (
           select postrider_internal.url_escaped(a.pairs[n]) || '='
                  || postrider_internal.url_escaped(a.pairs[n + 1]) as pair) c;
  end if;
  if postrider_internal.used_credential(p_job.credential, p_service.credential) is not null then
    select lower(postrider_internal.url_escaped(p.place ->> 'query') collate "C") into v_token
      from postrider.credentials c
     cross join lateral (
           select postrider_internal.used_place(c.place, p_job.body_json,
                                                num_nonnulls(p_job.body_form, p_job.body_parts) > 0) as place) p
     where c.name = postrider_internal.used_credential(p_job.credential, p_service.credential);
  end if;
  if num_nonnulls(v_added, v_token) > 0 then
    next := split_part(next, '?', 1) || coalesce((
      select '?' || string_agg(a.arg, '&' order by a.place)
        from string_to_table(substring(next from E'\\?(.*)$'), '&') with ordinality as a(arg, place)
       where lower(replace(a.arg, '+', '%20') collate "C") <> all (coalesce(v_added, '{}'))
         and lower(replace(split_part(a.arg, '=', 1), '+', '%20') collate "C") is distinct from v_token), '');
  end if;
  if next ~* '^[a-z][a-z0-9+.-]*://[a-z0-9]' and next !~* '^https?:' then
    code := 'denied_redirect';
    error := format('the link to the next page leads to another origin, of scheme %s; calls are http or https',
      lower(left(split_part(next, ':', 1), 40) collate "C"));
  else
    select 'bad_url', format('the link to the next page %s', d.reason) into code, error
      from postrider_internal.url_defect(next) d where d.reason is not null;
  end if;
  if code is not null then
    next := left(regexp_replace(next, E'[\\x01-\\x1f\\x7f]+', ' ', 'g'), 2000);
    return;
  end if;
  if substring(next from '^[^/]*//[^/?#]*') <> substring(v_called from '^[^/]*//[^/?#]*')
     and (lower(split_part(next, ':', 1) collate "C") <> lower(split_part(v_called, ':', 1) collate "C")
          or postrider_internal.url_authority(next) <> postrider_internal.url_authority(v_called))
     and postrider_internal.url_is_upgrade(v_called, next) is not true then
    code := 'denied_redirect';
    error := format('the link to the next page leads to another origin, %s://%s; insert a separate job for it',
      lower(split_part(next, ':', 1) collate "C"), postrider_internal.url_authority(next));
    return;
  end if;

  target := next;
  if p_job.url !~* '^https?:' then
    -- In the form of the job, so that changes of the service's base, or its rules for relative URLs, apply.
    v_base := regexp_replace(postrider_internal.job_url('', p_job.use_cdn, p_service), '[?#].*$', '');
    target := case
      when starts_with(next, v_base) and substr(next, length(v_base) + 1) ~ '^[A-Za-z0-9._~%-]+([/?]|$)'
        then substr(next, length(v_base) + 1)
      else coalesce(substring(next from '^[A-Za-z]+://[^/?#]*(/(?!/).*)$'), next) end;
  end if;
end
$$;
comment on function postrider_internal.page_next(
  postrider.jobs, postrider.services, postrider_internal.fetched_pages, int, bytea, bytea, text, text) is
  'the reference to the next page; nulls: last page; code and error: the reference cannot be followed';
