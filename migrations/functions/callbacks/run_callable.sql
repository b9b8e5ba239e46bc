-- SPDX-License-Identifier: Apache-2.0
-- The block is a savepoint: what a function wrote is undone if it fails, and nothing else. Constraints that are
-- deferred are checked inside it, or their error would come at the commit and take the job's end along. Afterwards they
-- are deferred again, for the next function of the same transaction.
--
-- What the function has set is put back, also what it has set locally, which would last to the end of the transaction:
-- the session is that of all functions of its worker, and behind a pooler anybody's. RESET ALL takes 2 us and knows no
-- exception but the role and the session's user. It undoes as well what was set before the function ran, by the worker
-- for its session and by the functions above this one: that is listed here. The reset ends the SET clauses of these, so
-- it is put back for the rest of the transaction; for the rest of the session, what its worker or a pooler set so. What
-- fails undoes its own. PostgreSQL 15 and 16 have no transaction_timeout.
--
-- "others" alone would let a timeout through, which is a query_canceled.
--
-- In a worker's session alone: what is deferred is checked as whoever calls this.
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
    -- First of all, or operators would be looked for elsewhere.
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    if current_setting('session_authorization') <> v_user then
      perform set_config('session_authorization', v_user, false), set_config('role', v_role, false);
    elsif current_setting('role') <> v_role then
      -- Not locally, so that SET ROLE does not outlive the transaction either.
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
  'runs one registered function for a job, hooks (no p_callback) with the event; SQLSTATE and message of its error, nulls if it ended well';
