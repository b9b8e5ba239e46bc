-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.kind_name(p_kind "char") returns text
language sql immutable strict parallel safe
as $$
  select case p_kind when 'b' then 'batch' when 'c' then 'chain' end
$$;
comment on function postrider_internal.kind_name("char") is 'the name of a kind of tree stored as one letter';
