-- SPDX-License-Identifier: Apache-2.0
-- The block is a savepoint: if a function fails, exactly its changes are rolled back. Deferred constraints are checked
-- inside the block, because at the commit their error would roll back the end of the job. Afterwards they are deferred
-- again for the next function of the transaction.
--
-- Settings changed by the function are reset, also local ones, which would last until the end of the transaction. All
-- functions of a worker share the session, and behind a pooler other clients share it too. RESET ALL takes 2 µs and
-- covers everything except the role and the session user.
--
-- RESET ALL also removes settings made before the function ran, by the worker for its session and by the functions
-- above this one. These are listed here. The reset ends the SET clauses of the calling functions, so their values are
-- set again for the rest of the transaction.
--
-- Settings of the worker or a pooler are set again for the rest of the session. A failed function rolls back its own
-- settings. PostgreSQL 15 and 16 have no transaction_timeout.
--
-- "others" alone would not catch a timeout, which is a query_canceled.
--
-- Only for a worker's session, because deferred constraints are checked as the calling role.
create or replace function postrider_internal.run_callable(
  p_job bigint, p_event text, p_callback text, p_function text, out state text, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_of_session constant text[] := '{
    application_name,client_encoding,datestyle,default_transaction_isolation,
    idle_in_transaction_session_timeout,idle_session_timeout,intervalstyle,standard_conforming_strings,timezone}';
  c_of_transaction constant text[] := '{
    enable_bitmapscan,enable_hashjoin,enable_mergejoin,enable_seqscan,jit,plan_cache_mode,statement_timeout,
    transaction_timeout}';
  v_is_hook boolean := p_callback is null;
  v_found record;
  v_user constant text := current_setting('session_authorization');
  v_role constant text := current_setting('role');
  v_of_session text[];
  v_of_transaction text[];
begin
  begin
    v_found := postrider_internal.registered_callable(p_callback, p_function, case when v_is_hook then 'bigint, text'
                                                      else 'bigint' end);
    v_of_session := array(select current_setting(n.name, true) from unnest(c_of_session) n (name));
    v_of_transaction := array(select current_setting(n.name, true) from unnest(c_of_transaction) n (name));
    perform pg_catalog.set_config('search_path', v_found.path, true);
    if v_is_hook then
      execute format('select %s($1, $2)', v_found.call) using p_job, p_event;
    else
      execute format('select %s($1)', v_found.call) using p_job;
    end if;
    set constraints all immediate;
    reset all;
    -- First, because otherwise operators would be searched in another schema.
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    if current_setting('session_authorization') <> v_user then
      perform set_config('session_authorization', v_user, false), set_config('role', v_role, false);
    elsif current_setting('role') <> v_role then
      -- Not local, so that SET ROLE does not outlive the transaction either.
      perform set_config('role', v_role, false);
    end if;
    perform set_config(s.name, s.value, s.is_local)
       from (select n.name, n.value, false as is_local from unnest(c_of_session, v_of_session) n (name, value)
              union all
             select n.name, n.value, true from unnest(c_of_transaction, v_of_transaction) n (name, value)) s
      where current_setting(s.name, true) <> s.value;
  exception when query_canceled or assert_failure or others then
    get stacked diagnostics state = returned_sqlstate, error = message_text;
    error := left(error, 2000);
    return;
  end;
  perform postrider_internal.defer_constraints();
end
$$;
comment on function postrider_internal.run_callable(bigint, text, text, text) is
  'runs one registered function for a job, a hook (p_callback null) with its event; returns its error or nulls';
