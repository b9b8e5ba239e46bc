-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_whole_template(p_text text) returns boolean
language sql immutable parallel safe
as $$
  select p_text ~ E'^\\{\\{[^{}]*\\}\\}$'
$$;
comment on function postrider_internal.is_whole_template(text) is
  'whether an argument is one whole template, like {{register.body.id}}';
