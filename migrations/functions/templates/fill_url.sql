-- SPDX-License-Identifier: Apache-2.0
-- Templates stand in the path, the query or the fragment. A value is fully percent-encoded, slashes too, so it stays
-- inside its path segment or query argument. It cannot make a segment . or .. in any encoding, because such a segment
-- leads to another path. It cannot be empty in the path, where /users/{{id}} would become /users/.
--
-- A URL that is one whole template may be a path, or a URL of the service's own origin, as in a Location header. If the
-- service has servers (p_servers: their base URLs), the origin of each server counts as own. The value then loses its
-- origin, so the call may go to any server.
--
-- template_parts returns literals at odd and templates at even places. template_sample has an x for each template. The
-- filled URL must have the origin of this sample.
create or replace function postrider_internal.fill_url(
  p_url text, p_use_cdn boolean, p_service postrider.services, p_servers text[], p_values jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := postrider_internal.template_parts(p_url);
  v_sample text := postrider_internal.template_sample(p_url);
  v_segments text[] := string_to_array(substring(v_sample from '^[^?#]*'), '/');
  v_server text;
  v_origin text;
  v_value text;
  v_url text;
  v_shown text;
  v_is_path boolean := true;
begin
  if cardinality(v_parts) = 3 and v_parts[1] = '' and v_parts[3] = '' then
    v_shown := format('{{%s}}', v_parts[2]);
    v_url := postrider_internal.template_text('url', v_parts[2], p_values, false);
    if v_url = '' or length(v_url) > 8000 or v_url ~ '[^!-~]' or v_url like E'%\\\\%' then
      raise exception using errcode = 'PR009',
        message = format('url: %s is neither a path nor a URL that can be called; '
        'a URL holds no spaces, backslashes or characters outside ASCII', v_shown);
    end if;
    if v_url ~* '^(https?:)?//[^/?#@]+([/?#]|$)' then
      foreach v_server in array p_servers || postrider_internal.job_url('/', p_use_cdn, p_service) loop
        if postrider_internal.url_origin(case when v_url like '//%' then split_part(v_server, ':', 1) || ':'
                                         else '' end || v_url)
           = postrider_internal.url_origin(v_server) then
          v_url := regexp_replace(v_url, '^([A-Za-z]+:)?//[^/?#]*/?', '/');
          exit;
        end if;
      end loop;
    end if;
  else
    for i in 1 .. cardinality(v_parts) loop
      if i % 2 = 1 then
        v_is_path := v_is_path and v_parts[i] !~ '[?#]';
        continue;
      end if;
      v_shown := concat_ws(', ', v_shown, format('{{%s}}', v_parts[i]));
      v_value := postrider_internal.template_text('url', v_parts[i], p_values, false);
      if v_is_path and v_value = '' then
        raise exception using errcode = 'PR009',
          message = format('url: {{%s}} is empty, but a path segment needs a value; check the answer that it comes from', v_parts[i]);
      elsif octet_length(v_value) > 8000 then
        raise exception using errcode = 'PR009',
          message = format('url: {{%s}} is longer than 8000 bytes; send it in the body', v_parts[i]);
      end if;
      v_parts[i] := postrider_internal.percent_encoded(v_value);
    end loop;
    v_url := array_to_string(v_parts, '');
    if exists (
      select from string_to_table(substring(v_url from '^[^?#]*'), '/') with ordinality as s(segment, place)
       where s.segment ~* E'^(\\.|%2e){1,2}$' and s.segment <> v_segments[s.place]) then
      raise exception using errcode = 'PR009',
        message = format('url: with %s filled a path segment is . or .., which changes the path; such values cannot be sent', v_shown);
    end if;
  end if;

  v_origin := postrider_internal.job_url(v_sample, p_use_cdn, p_service);
  v_origin := substring(v_origin from '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*');
  if substring(postrider_internal.job_url(v_url, p_use_cdn, p_service) from '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*')
    is distinct from v_origin
     or v_origin is null and v_url ~ '^([A-Za-z][A-Za-z0-9+.-]*:|//)' then
    raise exception using errcode = 'PR009',
      message = format('url: %s leads to another scheme, host or port, which is not allowed; '
      'insert a separate job with that service', v_shown);
  end if;
  if v_origin is not null and (postrider_internal.url_defect(postrider_internal.job_url(v_url, p_use_cdn,
      p_service))).reason is not null then
    raise exception using errcode = 'PR009', message = format('url: with %s filled it %s', v_shown,
      (postrider_internal.url_defect(postrider_internal.job_url(v_url, p_use_cdn, p_service))).reason);
  end if;
  return v_url;
end
$$;
comment on function postrider_internal.fill_url(text, boolean, postrider.services, text[], jsonb) is
  'a URL with its templates filled; raises PR009 if a value does not fit or would lead to another origin';
