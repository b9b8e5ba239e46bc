-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_tag(p_tag text) returns boolean
language sql immutable parallel safe
return length(p_tag) <= 400;
comment on function postrider_internal.is_tag(text) is 'whether a tag is short enough; null for null';
