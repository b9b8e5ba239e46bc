-- SPDX-License-Identifier: Apache-2.0
-- One comparison for most requests, which hold nothing like a secret name. An escape may hide a word.
create or replace function postrider_internal.has_secret_word(p_text text) returns boolean
language sql immutable parallel safe
as $$
  select translate(lower(p_text collate "C"), '-_', '')
           ~ E'[%\\\\]|//|token|secret|password|key|sig|auth|credential|session|cookie|code|pwd'
$$;
comment on function postrider_internal.has_secret_word(text) is
  'whether JSON, a form or another text may hold a secret name or a URL with a password; false: there is none';
