-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.refuse_limit(p_column text, p_reason text, p_hint text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'PR015', schema = 'postrider', table = 'jobs', column = p_column,
    message = format('jobs.%s: %s', p_column, p_reason), hint = p_hint;
end
$$;
comment on function postrider.refuse_limit(text, text, text) is
  'private: raises PR015 for an INSERT beyond a limit of its client, with the column and what to do';
