-- SPDX-License-Identifier: Apache-2.0
-- The only writer of admin_log, granted to postrider_admin alone. An act with many jobs has several transactions. The
-- first one adds the row, and each later one adds to its count. A caller adds only to its own rows.
create or replace function postrider_internal.record_admin_action(p_actor text, p_action text, p_target jsonb,
                                                                  p_count bigint, p_id bigint default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  if length(p_actor) between 1 and 100 is not true then
    raise exception using errcode = 'PR001', column = 'actor', message = 'actor: must have 1 to 100 characters',
      hint = 'Give the name of the person who acts.';
  end if;
  if p_id is null then
    insert into postrider.admin_log (actor, login, action, target, count)
    values (p_actor, session_user, p_action, p_target, p_count)
    returning id into v_id;
  else
    update postrider.admin_log a set count = a.count + p_count
     where a.id = p_id and a.login = session_user and a.actor = p_actor and a.action = p_action
    returning a.id into v_id;
  end if;
  return v_id;
end
$$;
comment on function postrider_internal.record_admin_action(text, text, jsonb, bigint, bigint) is
  'adds an act to admin_log and returns its id; with p_id: adds to the count of that row of the same login';
