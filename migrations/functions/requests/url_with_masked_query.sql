-- SPDX-License-Identifier: Apache-2.0
-- after: requests/is_secret_name.sql
-- A name may be percent-encoded, so it is decoded before the comparison. Most queries hold nothing like a secret name,
-- and one comparison finds that.
create or replace function postrider_internal.url_with_masked_query(
  p_url text, p_masked text[], p_mask text default '***') returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place int := position('?' in p_url);
  v_arguments text[] := '{}';
  v_argument text;
  v_name text;
  v_plain text;
begin
  if p_url is null or v_place = 0 or p_masked = '{}' and translate(lower(substr(p_url, v_place) collate "C"), '-_', '')
       !~ '[%+]|token|secret|password|key|sig|auth|credential|session|cookie|code|pwd' then
    return p_url;
  end if;
  foreach v_argument in array string_to_array(substr(p_url, v_place + 1), '&') loop
    v_name := split_part(v_argument, '=', 1);
    if v_name <> v_argument then
      -- No text can hold a NUL. A name with %00 is no secret name, and must not fail the views that show the URL.
      v_plain := case when translate(v_name, '%+', '') = v_name then v_name
                      else convert_from(postrider_internal.url_unescaped(replace(v_name, '%00', '%01')), 'LATIN1') end;
      if v_name = any (p_masked) or v_plain = any (p_masked) or postrider_internal.is_secret_name(v_plain) then
        v_argument := v_name || '=' || p_mask;
      end if;
    end if;
    v_arguments := v_arguments || v_argument;
  end loop;
  return left(p_url, v_place) || array_to_string(v_arguments, '&');
end
$$;
comment on function postrider_internal.url_with_masked_query(text, text[], text) is
  'a URL with *** for masked query arguments: secret names and names in p_masked';
