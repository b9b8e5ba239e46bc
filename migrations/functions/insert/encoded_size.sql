-- SPDX-License-Identifier: Apache-2.0
-- The size that PercentEncoding gives a name or value of a form. What is left without the unreserved characters takes
-- three bytes each.
create or replace function postrider_internal.encoded_size(p_text text) returns int
language sql immutable strict parallel safe
as $$
  select octet_length(p_text) + 2 * octet_length(regexp_replace(p_text, '[A-Za-z0-9._~ -]+', '', 'g'))
$$;
comment on function postrider_internal.encoded_size(text) is 'how many bytes a text has percent-encoded as in a form';
