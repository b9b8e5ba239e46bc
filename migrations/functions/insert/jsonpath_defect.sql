-- SPDX-License-Identifier: Apache-2.0
-- A string in the text form of a path cannot end in an unescaped quote. So once all strings are emptied, `$""` is a
-- variable.
create or replace function postrider_internal.jsonpath_defect(p_path jsonpath) returns text
language sql immutable strict parallel safe
as $$
  select case
    when position('$""' in regexp_replace(p_path::text, E'"(?:[^"\\\\]|\\\\.)*"', '""', 'g')) > 0
      then 'uses a variable, but variables are not supported'
    when length(p_path::text) > 2000 then 'is longer than 2000 characters'
  end
$$;
comment on function postrider_internal.jsonpath_defect(jsonpath) is
  'why a jsonpath cannot be used on an answer; null: valid';
