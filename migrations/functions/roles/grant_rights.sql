-- SPDX-License-Identifier: Apache-2.0
-- All roles may run functions that run as their caller, because these give no role a right. Views, triggers and submit
-- need many of them. For functions that run as the owner, each role has its own list.
create or replace function postrider_internal.grant_rights() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_invokers text;
begin
  revoke all on schema postrider, postrider_internal
    from public, postrider_worker, postrider_client, postrider_admin, postrider_reader;
  revoke all on all tables in schema postrider, postrider_internal
    from public, postrider_worker, postrider_client, postrider_admin, postrider_reader;
  revoke all on all sequences in schema postrider, postrider_internal
    from public, postrider_worker, postrider_client, postrider_admin, postrider_reader;
  revoke all on all functions in schema postrider, postrider_internal
    from public, postrider_worker, postrider_client, postrider_admin, postrider_reader;
  grant usage on schema postrider, postrider_internal to postrider_worker, postrider_client, postrider_admin,
    postrider_reader;
  select string_agg(p.oid::regprocedure::text, ', ') into v_invokers
    from pg_proc p
   where p.pronamespace = any (postrider_internal.own_schemas()) and not p.prosecdef
     and p.prorettype <> 'trigger'::regtype;
  execute format('grant execute on function %s to postrider_client, postrider_admin, postrider_reader', v_invokers);

  grant select on postrider.migrations, postrider.error_codes, postrider_internal.tickets,
    postrider_internal.service_ticket, postrider_internal.parents,
    postrider.job_status, postrider.attempts,
    postrider.pages, postrider.callback_errors, postrider.recent_failures,
    postrider.client_status, postrider.operations to postrider_client, postrider_admin, postrider_reader;
  grant execute on function postrider_internal.explain_job, postrider_internal.watch_places,
    postrider_internal.find_key_owner, postrider_internal.expand_operation, postrider_internal.check_wait,
    postrider_internal.has_ended, postrider_internal.job_request, postrider_internal.job_insert,
    postrider_internal.preview_request
    to postrider_client, postrider_admin, postrider_reader;

  -- A client cannot set who inserted a row, and COPY and RETURNING id work.
  execute format('grant select (id), insert (%s) on postrider.jobs to postrider_client', (
    select string_agg(quote_ident(a.attname), ', ')
      from pg_attribute a
     where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname not in ('id', 'created_at', 'created_by')));
  grant execute on function postrider_internal.cancel_job, postrider_internal.spec_values,
    postrider_internal.spec_duplicate to postrider_client, postrider_admin;

  grant select on postrider.queue_status, postrider.lane_status, postrider.service_status, postrider.worker_status,
    postrider.credential_status, postrider.schedule_status, postrider.cache_status, postrider.throughput,
    postrider.restores, postrider.admin_log
    to postrider_admin, postrider_reader;
  grant execute on function postrider.newest_jobs, postrider_internal.find_jobs, postrider_internal.failure_groups,
    postrider_internal.chart_points, postrider_internal.delayed_lanes, postrider_internal.routes_of,
    postrider_internal.track_counts, postrider_internal.queue_counts, postrider_internal.track_lanes,
    postrider_internal.suggested_names, postrider_internal.queue_trend
    to postrider_admin, postrider_reader;

  -- Configuration except callbacks and hooks, which name code that workers run.
  grant select, insert, update, delete on postrider.services, postrider.servers, postrider.lanes, postrider.queues,
    postrider.credentials, postrider.schedules, postrider.client_limits, postrider.operations to postrider_admin;
  grant select, update on postrider.settings to postrider_admin;
  grant select on postrider.callbacks, postrider.hooks to postrider_admin;
  grant execute on function postrider.cancel_all, postrider.end_unknown, postrider.retry, postrider.retry_failed,
    postrider.reschedule, postrider.purge,
    postrider_internal.find_failed_jobs, postrider_internal.retry_failed_step,
    postrider.pause_queue, postrider.resume_queue, postrider.pause_lane, postrider.resume_lane,
    postrider.switch_server,
    postrider.log_in, postrider_internal.log_in_sealed, postrider.log_out, postrider.run_schedule,
    postrider_internal.begin_rerun,
    postrider_internal.call_callback, postrider_internal.end_rerun,
    postrider.cache_put(jsonb, jsonb, text), postrider.cache_put(jsonb, text, text),
    postrider.cache_put(jsonb, bytea, text),
    postrider.cache_invalidate, postrider_internal.import_operations, postrider_internal.act_on_jobs,
    postrider_internal.cancel_as, postrider_internal.pause_lane_as, postrider_internal.record_admin_action
    to postrider_admin;

  grant select, insert, update, delete on all tables in schema postrider, postrider_internal to postrider_worker;
  revoke insert, update, delete on postrider.callbacks, postrider.hooks, postrider.migrations, postrider.settings,
    postrider.admin_log, postrider_internal.ticket_key from postrider_worker;
  grant usage, select, update on all sequences in schema postrider, postrider_internal to postrider_worker;
  grant execute on all functions in schema postrider, postrider_internal to postrider_worker;
  -- Only admins act in the name of a person. A worker's login acts as an admin only if it is a member of that role.
  revoke execute on function postrider_internal.act_on_jobs, postrider_internal.cancel_as,
    postrider_internal.pause_lane_as, postrider_internal.record_admin_action from postrider_worker;
  -- These run functions of the application as the schema's owner; see set_up_roles.
  if (select p.proowner from pg_proc p where p.oid = 'postrider_internal.call_callback(bigint)'::regprocedure)
    <> 'postrider_owner'::regrole then
    revoke execute on function postrider_internal.begin_rerun, postrider_internal.call_callback,
      postrider_internal.end_rerun from postrider_admin, postrider_worker;
  end if;
end
$$;
comment on function postrider_internal.grant_rights() is
  'gives each role its rights to the objects of both schemas, and takes all others from it';
