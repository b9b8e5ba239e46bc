-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.stub_path_pattern(p_path text) returns text
language sql immutable strict parallel safe
as $$
  select '^' || replace(replace(replace(
    regexp_replace(p_path, E'([.+?(){}|^$\\[\\]\\\\])', E'\\\\\\1', 'g'),
    '**', E'\x01'), '*', '[^/]*'), E'\x01', '.*') || '$'
$$;
comment on function postrider_internal.stub_path_pattern(text) is
  'the path of a stub as a regular expression: * stands for one segment, ** for several';
