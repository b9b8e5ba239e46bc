-- SPDX-License-Identifier: Apache-2.0
-- A user without a password is masked, because some APIs take a token as the user. The mask of a caller must not reach
-- the replacement as it is: a backslash with & stands for the password there.
create or replace function postrider_internal.url_with_masked_login(
  p_url text, p_mask text default '***') returns text
language sql immutable strict parallel safe
as $$
  select case when p_url ~ E'^([Hh][Tt][Tt][Pp][Ss]?:)?//[^/?#]*@'
    then regexp_replace(p_url, E'^((?:[A-Za-z]+:)?//(?:[^/?#:@]*:)?)[^/?#]*@',
                        E'\\1' || replace(p_mask, E'\\', E'\\\\') || '@')
    else p_url end
$$;
comment on function postrider_internal.url_with_masked_login(text, text) is
  'a URL with *** for its password, or for a user without password; other texts unchanged';
