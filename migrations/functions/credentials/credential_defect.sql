-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.credential_defect(
  p_credential postrider.credentials, out column_name text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c alias for p_credential;
  v_is_oauth boolean := coalesce(p_credential.kind like 'oauth2%', false);
begin
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (coalesce(length(c.name) not between 1 and 200, true),
     'name', 'must have 1 to 200 characters', 'Jobs and services refer to the credential by it.'),
    (c.name = 'none' or c.name like 'postrider.%',
     'name', case when c.name = 'none' then 'must not be none, which means no credential in jobs'
       else 'begins with postrider., which is reserved' end,
     'Choose another.'),
    (c.kind is null or c.kind not
     in ('basic', 'bearer', 'api_key', 'oauth2_client_credentials', 'oauth2_refresh_token', 'custom'),
     'kind', 'is not a kind of credential',
     'Give basic, bearer, api_key, oauth2_client_credentials, oauth2_refresh_token or custom.'),
    (c.allow_private_network is null, 'allow_private_network', 'must not be null', 'Leave it out for its default.'),
    (c.state is null or c.state not in ('active', 'refreshing', 'cooldown', 'logged_off'),
     'state', 'is not a state', 'Leave it out; log_in and log_out set it.'),
    (c.version is null or c.version < 0, 'version', 'must be 0 or more',
     'Leave it out; log_in and each refresh set it.'),
    (not isfinite(c.expires_at), 'expires_at', 'must be a point in time', 'Leave it out for a token that never expires.'),
    (c.created_at is null, 'created_at', 'must not be null', 'Leave it out for its default.'),
    (c.place is not null and jsonb_typeof(c.place) <> 'object'
       and (jsonb_typeof(c.place) <> 'array' or jsonb_array_length(c.place) not between 1 and 10
            or c.place @? 'strict $[*] ? (@.type() != "object")'),
     'place', 'must be an object, or a list of 1 to 10',
     'Like {"header": "X-Token"}, or [{"json": "accessToken"}, {"query": "access_token"}]; the first entry that fits the request is used.'),
    (c.client_auth is null or c.client_auth not in ('basic', 'post', 'none'),
     'client_auth', 'must be basic, post or none',
     'basic: client_id and client_secret go as Basic auth; post: in the form; none: the client_id alone, in the form.'),
    (c.client_auth <> 'basic' and not v_is_oauth, 'client_auth', 'is for the oauth2 kinds', 'Leave it out.'),
    (c.client_auth <> 'basic' and c.client_id is null,
     'client_id', 'is missing', format('With client_auth %s the token endpoint needs it.',
                                       c.client_auth)),
    (c.token_url is null and v_is_oauth, 'token_url', 'is missing', 'Give the URL of the API''s token endpoint.'),
    (c.token_url is not null and not v_is_oauth,
     'token_url', 'is for the oauth2 kinds', 'Leave it out; a custom credential names its URL in refresh.'),
    (c.client_id is null and c.kind = 'oauth2_client_credentials', 'client_id', 'is missing',
     'Give the client id that the API issued.'),
    (c.client_id is not null and not v_is_oauth, 'client_id', 'is for the oauth2 kinds', 'Leave it out.'),
    (c.client_id ~ E'[\\x01-\\x1f\\x7f]' or length(c.client_id) not between 1 and 1000,
     'client_id', 'is empty, too long or holds a control character', 'Give the client id that the API issued.'),
    (c.scope is not null and not v_is_oauth, 'scope', 'is for the oauth2 kinds', 'Leave it out.'),
    (c.scope ~ E'[\\x01-\\x1f\\x7f]' or length(c.scope) not between 1 and 2000,
     'scope', 'is empty, too long or holds a control character', 'Like ''read write''.'),
    (c.refresh is null and c.kind = 'custom', 'refresh', 'is missing',
     'Like {"url": "https://api.example.com/token", "body_json": {"refreshToken": "{{refresh_token}}"}, "access_token": "$.data.token"}.'),
    (c.refresh is not null and c.kind is distinct from 'custom', 'refresh', 'is for the kind custom', 'Leave it out.'),
    (c.expired_statuses is null or isempty(c.expired_statuses)
     or not c.expired_statuses <@ '{[400,600)}'::int4multirange,
     'expired_statuses', 'must hold statuses between 400 and 599', 'Like ''{[401,402),[403,404)}''.'),
    (array_ndims(c.allowed_origins) > 1 or exists (
       select from unnest(c.allowed_origins) o
        where o is null or o !~ E'^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$'),
     'allowed_origins', 'holds something that is not an origin',
     'Give scheme, host and port alone, like https://api.example.com.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  if c.place is not null then
    select 'place', d.r,
           'Like {"header": "X-Token"}, {"header": "Authorization", "prefix": "Bearer "}, {"query": "access_token"}, {"form": "access_token"} or {"json": "accessToken"}.'
      into column_name, reason, hint
      from jsonb_array_elements(case jsonb_typeof(c.place) when 'array' then c.place
                                else jsonb_build_array(c.place) end) p
     cross join lateral (values
      ((select count(*) from jsonb_object_keys(p) k where k in ('header', 'query', 'form', 'json')) <> 1,
       'must have one of header, query, form and json'),
      (exists (select from jsonb_each(p) e
                where e.key not in ('header', 'query', 'form', 'json', 'prefix') or jsonb_typeof(e.value) <> 'string'),
       'has an unknown key, or a value that is not text'),
      (p ? 'prefix' and not p ? 'header', 'has a prefix, which only a header can have'),
      (lower((p ->> 'header') collate "C") in ('user-agent', 'accept', 'accept-language', 'content-type'),
       'names a header that redirects send to other origins too'),
      (c.kind = 'basic' and not p ? 'header', 'must be a header for the kind basic'),
      (length(coalesce(p ->> 'query', p ->> 'form', p ->> 'json', 'x')) not between 1 and 200,
       'has an empty name, or one too long'),
      (p ? 'header' and (postrider_internal.headers_defect(
         jsonb_build_object(p ->> 'header', coalesce(p ->> 'prefix', '')))).reason is not null,
       'names a header that cannot be set, or has an invalid prefix')
    ) as d(bad, r) where d.bad limit 1;
  end if;
  if column_name is null and c.token_url is not null then
    select 'token_url', d.reason, d.hint into column_name, reason, hint
      from postrider_internal.url_defect(c.token_url) d where d.reason is not null;
    if column_name is null and c.token_url ~ '^[^/]*//[^/?#]*@' then
      column_name := 'token_url';
      reason := 'holds a user or password, which would be readable here';
      hint := 'Leave them out; client_id and the client_secret of log_in are sent by Basic auth.';
    end if;
  end if;
  if column_name is null and c.refresh is not null then
    select 'refresh', d.reason, d.hint into column_name, reason, hint
      from postrider_internal.refresh_defect(c.refresh) d where d.reason is not null;
  end if;
end
$$;
comment on function postrider_internal.credential_defect(postrider.credentials) is
  'the first column of a credential that breaks a rule, the reason and a hint; nulls: valid';
