-- SPDX-License-Identifier: Apache-2.0
-- The block is a savepoint: what a function wrote is undone if it fails, and nothing else. Constraints that are deferred
-- are checked inside it, or their error would come at the commit and take the job's end along. Afterwards they are
-- deferred again, for the next function of the same transaction. A role that the function has set is put back, too: what comes after it
-- would be refused for want of rights. Not locally, so that SET ROLE does not outlive the transaction either; what fails undoes its own.
--
-- "others" alone would let a timeout through, which is a query_canceled.
create or replace function postrider.run_callable(
  p_job bigint, p_event text, p_callback text, p_function text, out state text, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_hook boolean := p_callback is null;
  v_found record;
  v_deferred text;
  v_role constant text := current_setting('role');
begin
  begin
    select * into v_found
      from postrider.callable(p_function, case when v_is_hook then 'bigint, text' else 'bigint' end);
    if p_function is null then
      raise exception using errcode = '42883', message = format('callback %s is not registered any more', p_callback);
    elsif v_found.call is null then
      raise exception using errcode = '42883', message = format(
        'function %s does not exist any more, or %s has no right to its schema', p_function, quote_ident(current_user));
    end if;
    perform pg_catalog.set_config('search_path', v_found.path, true);
    if v_is_hook then
      execute format('select %s($1, $2)', v_found.call) using p_job, p_event;
    else
      execute format('select %s($1)', v_found.call) using p_job;
    end if;
    set constraints all immediate;
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    if current_setting('role') <> v_role then
      perform pg_catalog.set_config('role', v_role, false);
    end if;
  exception when query_canceled or assert_failure or others then
    get stacked diagnostics state = returned_sqlstate, error = message_text;
    error := left(error, 2000);
    return;
  end;
  select string_agg(distinct format('%I.%I', n.nspname, c.conname), ', ') into v_deferred
    from pg_constraint c
    join pg_namespace n on n.oid = c.connamespace
   where c.condeferred
     and not exists (
           select from pg_constraint o
            where o.connamespace = c.connamespace and o.conname = c.conname and not o.condeferrable);
  if v_deferred is not null then
    execute format('set constraints %s deferred', v_deferred);
  end if;
end
$$;
comment on function postrider.run_callable(bigint, text, text, text) is
  'private: runs one registered function for a job, hooks (no p_callback) with the event; SQLSTATE and message of its error, nulls if it ended well';
