-- SPDX-License-Identifier: Apache-2.0
-- Runs in the transaction of the caller. The callback runs with the rights of the schema's owner, because only the
-- owner can register it (call_callback). Deferred constraints are checked as the caller. Before PostgreSQL 18 all
-- deferred triggers run as the current role when they fire, and triggers on the caller's tables must not run as the
-- owner.
--
-- If the caller's statement is ended from outside, the callback is not at fault. In a worker's session it may be,
-- because the functions of a job share the limit there.
create or replace function postrider.rerun_callback(id bigint) returns boolean
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text;
  v_state text;
  v_error text;
begin
  perform postrider_internal.raise_null_argument('id', rerun_callback.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  perform postrider_internal.begin_rerun(rerun_callback.id);
  begin
    v_path := postrider_internal.call_callback(rerun_callback.id);
    perform pg_catalog.set_config('search_path', v_path, true);
    set constraints all immediate;
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  exception when query_canceled or assert_failure or others then
    get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
  end;
  if v_state = '57014' then
    -- The caller's time limit has passed, or the caller cancelled the statement.
    raise query_canceled using message = v_error;
  elsif v_state is not null then
    perform postrider_internal.end_rerun(rerun_callback.id, v_state, v_error);
    return false;
  end if;
  perform postrider_internal.defer_constraints();
  return true;
end
$$;
comment on function postrider.rerun_callback(bigint) is
  'runs the callback of an ended job once more; returns false if it failed again (see callback_errors)';
