-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.file_path_defect(p_path text) returns text
language sql immutable strict parallel safe
as $$
  select case
    when p_path = '' then 'is empty'
    when octet_length(p_path) > 1000 then 'is longer than 1000 bytes'
    when p_path ~ E'[\\x01-\\x1f\\x7f]' then 'holds a line break or control character'
    when left(p_path, 1) = '/' then 'is absolute'
    when p_path ~ E'(^|/)\\.\\.?(/|$)' then 'holds . or .. as a segment'
    when p_path ~ '(//|/$)' then 'holds an empty segment'
    when octet_length(substring(p_path from '[^/]*$')) > 240 then 'has a name of more than 240 bytes'
  end
$$;
comment on function postrider_internal.file_path_defect(text) is
  'why a path below the worker''s --files directory is refused; null: valid';
