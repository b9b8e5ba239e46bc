-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.tls_defect(p_tls jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  if p_tls is null then
    return;
  end if;
  hint := 'Like {"ca": "/etc/postrider/ca.pem", "pins": ["sha256//…"]}; keys are ca, certificate, key, pins.';
  if jsonb_typeof(p_tls) <> 'object' then
    reason := 'must be an object';
    return;
  end if;
  select k.key into v_key from jsonb_each(p_tls) k
   where k.key not in ('ca', 'certificate', 'key', 'pins')
      or k.key <> 'pins' and (jsonb_typeof(k.value) <> 'string' or left(k.value #>> '{}', 1) <> '/'
                                or k.value #>> '{}' ~ E'[\\x01-\\x1f\\x7f]')
      or k.key = 'pins' and (jsonb_typeof(k.value) <> 'array' or exists (
           select from jsonb_array_elements(k.value) p
            where jsonb_typeof(p) <> 'string' or p #>> '{}' !~ '^sha256//[A-Za-z0-9+/]{43}=$'))
   limit 1;
  if found then
    reason := case
      when v_key = 'pins' then '$.pins must be an array of sha256// and a public key''s SHA-256 in base64'
      when v_key in ('ca', 'certificate', 'key') then format('$.%s must be the absolute path of a PEM file', v_key)
      else format('$.%s: no such key', v_key)
    end;
  elsif (p_tls ? 'key') and not p_tls ? 'certificate' then
    reason := '$.key needs $.certificate too';
  else
    hint := null;
  end if;
end
$$;
comment on function postrider_internal.tls_defect(jsonb) is 'why services.tls is refused, and a hint; nulls: valid';
