-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_rule_path(p_text text) returns boolean
language sql immutable parallel safe
as $$
  select p_text ~ '^(strict |lax )?[(]*[$]'
$$;
comment on function postrider_internal.is_rule_path(text) is
  'whether the error or wait of a rule is a path into the answer; otherwise it is a text or an interval';
