-- SPDX-License-Identifier: Apache-2.0
-- From the path on a value is fully percent-encoded, slashes too, so it stays inside its segment or argument. It cannot
-- be a segment of dots, which would be removed together with the segment before, in any encoding. It cannot be empty in
-- the path, where /users/{{id}} would become /users/.
--
-- A URL that is one whole template may be a path, or a URL of the service's own origin, as in a Location header. For a
-- service with servers (p_servers: their base URLs) each server's origin is an own origin. The remaining path may go to
-- any of them.
create or replace function postrider_internal.fill_url(
  p_url text, p_use_cdn boolean, p_service postrider.services, p_servers text[], p_values jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := postrider_internal.template_parts(p_url);
  v_sample text := postrider_internal.template_sample(p_url);
  v_steps text[] := string_to_array(substring(v_sample from '^[^?#]*'), '/');
  v_base text;
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
        'a URL holds no spaces, no backslashes and nothing outside ASCII', v_shown);
    end if;
    if v_url ~* '^(https?:)?//[^/?#@]+([/?#]|$)' then
      foreach v_base in array p_servers || postrider_internal.job_url('/', p_use_cdn, p_service) loop
        if postrider_internal.url_origin(case when v_url like '//%' then split_part(v_base, ':', 1) || ':'
                                         else '' end || v_url)
           = postrider_internal.url_origin(v_base) then
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
      v_url := postrider_internal.template_text('url', v_parts[i], p_values, false);
      if v_is_path and v_url = '' then
        raise exception using errcode = 'PR009',
          message = format('url: {{%s}} is empty, and a step of the path may not be; look at the answer it is taken from', v_parts[i]);
      elsif octet_length(v_url) > 8000 then
        raise exception using errcode = 'PR009',
          message = format('url: {{%s}} is longer than 8000 bytes; send it in the body', v_parts[i]);
      end if;
      v_parts[i] := postrider_internal.percent_encoded(v_url);
    end loop;
    v_url := array_to_string(v_parts, '');
    if exists (
      select from string_to_table(substring(v_url from '^[^?#]*'), '/') with ordinality as s(step, place)
       where s.step ~* E'^(\\.|%2e){1,2}$' and s.step <> v_steps[s.place]) then
      raise exception using errcode = 'PR009',
        message = format('url: with %s filled a step of the path is . or .., which leads elsewhere; such values cannot be sent', v_shown);
    end if;
  end if;

  v_base := postrider_internal.job_url(v_sample, p_use_cdn, p_service);
  v_base := substring(v_base from '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*');
  if substring(postrider_internal.job_url(v_url, p_use_cdn, p_service) from '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*')
    is distinct from v_base
     or v_base is null and v_url ~ '^([A-Za-z][A-Za-z0-9+.-]*:|//)' then
    raise exception using errcode = 'PR009',
      message = format('url: %s leads to another scheme, host or port, which a value may not; '
      'name that service in a job of its own', v_shown);
  end if;
  if v_base is not null and (postrider_internal.url_defect(postrider_internal.job_url(v_url, p_use_cdn,
      p_service))).reason is not null then
    raise exception using errcode = 'PR009', message = format('url: with %s filled it %s', v_shown,
      (postrider_internal.url_defect(postrider_internal.job_url(v_url, p_use_cdn, p_service))).reason);
  end if;
  return v_url;
end
$$;
comment on function postrider_internal.fill_url(text, boolean, postrider.services, text[], jsonb) is
  'a URL with its templates filled; raises PR009 if a value does not fit or would lead to another origin';
