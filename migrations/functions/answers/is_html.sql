-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_html(p_headers bytea, p_body bytea) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(postrider_internal.content_type(p_headers) ~* E'^(text/html|application/xhtml\\+xml)\\s*(;|$)', false)
      or coalesce(encode(substring(p_body from 1 for 512), 'escape')
           ~* E'^(?:\\\\357\\\\273\\\\277)?\\s*(?:<!--.*?-->\\s*|<\\?xml.*?\\?>\\s*)*<(?:!doctype\\s+html|html|head|body|h1|title)\\M', false)
$$;
comment on function postrider_internal.is_html(bytea, bytea) is
  'whether an answer is an HTML page, by its Content-Type or its first characters';
