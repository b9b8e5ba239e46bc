-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refresh_defect(p_refresh jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_bad text;
  v_hint constant text := 'Like {"url": "https://api.example.com/token", "body_json": {"refreshToken": "{{refresh_token}}"}, "access_token": "$.data.token"}.';
begin
  hint := v_hint;
  if jsonb_typeof(p_refresh) <> 'object' then
    reason := '$ must be an object';
    return;
  end if;
  for v_key, v_value in select * from jsonb_each(p_refresh) loop
    if v_key not in ('method', 'url', 'headers', 'body_json', 'body_form', 'access_token', 'refresh_token',
                     'expires_in') then
      reason := format('$%s is not a key of refresh', postrider_internal.json_path_key(left(v_key, 100)));
      hint := 'The keys are method, url, headers, body_json, body_form, access_token, refresh_token and expires_in.';
    elsif v_key = 'method' and upper(v_value #>> '{}' collate "C") in ('POST', 'GET', 'PUT', 'PATCH') is not true then
      reason := '$.method is not a method';
      hint := 'Give POST (the default), GET, PUT or PATCH.';
    elsif v_key in ('access_token', 'refresh_token', 'expires_in') then
      begin
        -- The path is evaluated in the session that sends heartbeats.
        v_bad := case when jsonb_typeof(v_value) <> 'string' then 'is not a path'
                      when postrider_internal.jsonpath_is_cheap((v_value #>> '{}')::jsonpath)
                        then postrider_internal.jsonpath_defect((v_value #>> '{}')::jsonpath)
                      else 'is a path that may take long' end;
      exception when others then
        v_bad := 'is not a jsonpath';
      end;
      if v_bad is not null then
        reason := format('$.%s %s', v_key, v_bad);
        hint := format('Give the place in the answer as text, like "$.data.%s".', v_key);
      end if;
    elsif v_key = 'headers' then
      select '$.headers ' || d.reason, d.hint into reason, hint from postrider_internal.headers_defect(v_value) d
        where d.reason is not null;
    elsif v_key = 'body_form' and jsonb_typeof(v_value) <> 'object' then
      reason := '$.body_form must be an object';
    elsif v_key = 'url' then
      if jsonb_typeof(v_value) <> 'string' then
        reason := '$.url is not text';
      elsif substring(v_value #>> '{}' from '^[^/]*(?://[^/?#]*)?') like '%{{%' then
        reason := '$.url has a template in its scheme or host';
        hint := 'Use secrets only in the path and the query.';
      elsif v_value #>> '{}' ~ '^[^/]*//[^/?#]*@' then
        reason := '$.url holds a user or password, which would be readable here';
        hint := 'Give the header Authorization by a template, like {"Authorization": "Basic {{login}}"}.';
      else
        select '$.url ' || d.reason, d.hint into reason, hint
          from postrider_internal.url_defect(regexp_replace(v_value #>> '{}', E'\\{\\{[A-Za-z_][A-Za-z0-9_]*\\}\\}',
                                                            'x', 'g')) d
         where d.reason is not null;
      end if;
    end if;
    if reason is not null then
      return;
    end if;
    -- A check without a defect has set the hint to null.
    hint := v_hint;
  end loop;
  if not p_refresh ? 'url' then
    reason := '$.url is missing';
  elsif not p_refresh ? 'access_token' then
    reason := '$.access_token is missing';
    hint := 'Give the place of the new token in the answer, like "$.data.result.accessToken".';
  elsif p_refresh ? 'body_json' and p_refresh ? 'body_form' then
    reason := '$.body_form and $.body_json are both given';
    hint := 'Give one body.';
  elsif upper(p_refresh ->> 'method' collate "C") = 'GET' and (p_refresh ? 'body_json' or p_refresh ? 'body_form') then
    reason := '$.method is GET, which has no body';
    hint := 'Leave the body out, or use POST.';
  elsif regexp_replace((p_refresh - '{access_token,refresh_token,expires_in}'::text[])::text,
                       E'\\{\\{[A-Za-z_][A-Za-z0-9_]{0,62}\\}\\}', '', 'g') like '%{{%' then
    reason := '$ has a template that is not a name in double braces';
    hint := 'Write the name of a secret, like {{refresh_token}}.';
  else
    hint := null;
  end if;
end
$$;
comment on function postrider_internal.refresh_defect(jsonb) is
  'why credentials.refresh is refused, with the path, and a hint; nulls: valid';
