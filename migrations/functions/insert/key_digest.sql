-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.key_digest(p_queue text, p_key text) returns bytea
language sql immutable strict parallel safe
begin atomic
  select sha256(convert_to(length(p_queue) || ':' || p_queue || p_key, 'UTF8'));
end;
comment on function postrider_internal.key_digest(text, text) is
  'the digest by which dedupe_keys stores the dedupe_key of a job in a queue';
