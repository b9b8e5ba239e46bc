-- SPDX-License-Identifier: Apache-2.0
-- Only the form of the path decides, so that a list of one stays a list. Plural are a wildcard, a filter, a range or
-- list of subscripts, and keyvalue() outside of parentheses. A comparison or a sum is one value.
create or replace function postrider_internal.is_plural_extract(p_path jsonpath) returns boolean
language sql immutable parallel safe
as $$
  select p_path::text ~ '[*?,]| to |keyvalue'
    and regexp_replace(p_path::text, E'"(?:[^"\\\\]|\\\\.)*"', '',
                       'g') ~ E'^(?:strict )?\\$.*(?:\\*|\\?|\\[[^\\]]*(?:,| to )|keyvalue)'
$$;
comment on function postrider_internal.is_plural_extract(jsonpath) is
  'whether a path may find several values by its form, so that its result is always an array';
