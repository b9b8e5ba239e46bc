-- SPDX-License-Identifier: Apache-2.0
-- Must give the size of the text that PercentEncoding in the worker makes of a name or value of a form. All bytes
-- outside the unreserved characters take three bytes each.
create or replace function postrider_internal.encoded_size(p_text text) returns int
language sql immutable strict parallel safe
as $$
  select octet_length(p_text) + 2 * octet_length(regexp_replace(p_text, '[A-Za-z0-9._~ -]+', '', 'g'))
$$;
comment on function postrider_internal.encoded_size(text) is
  'how many bytes a text has when percent-encoded as in a form';
