-- SPDX-License-Identifier: Apache-2.0
-- Runs before the INSERT of each row, so a skipped duplicate is never inserted and RETURNING does not show it. A row
-- that breaks a rule passes and takes no key; queue_new_jobs refuses it by its column. A tag or queue beyond its limit
-- is refused here, because an index may be unable to take it.
--
-- One trigger does all of this, because the executor evaluates the condition of each trigger for each row. PostgreSQL
-- parses the condition anew in each INSERT, so it is short. A list of the methods took 15 µs in an idle session.
--
-- If a row does not fit its operation, it stays without operation_revision, and queue_new_jobs refuses it.
--
-- Most rows with an operation give only arguments, time and queue. One expression makes them, in half the time of
-- apply_operation. PL/pgSQL keeps it prepared for the transaction, so a column costs 10 ns.
--
-- insert_spec_jobs sets postrider.inherits to off, because it has already copied the values of the parent.
create or replace function postrider_internal.check_new_job() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_holder bigint;
  o postrider_internal.planned_job;
  v_filled jsonb;
begin
  if new.operation is not null then
    if new.kind = 'request' and new.method = 'GET' and not (new.use_cdn or new.login_required or new.ignore_cache)
       and new.response_format = 'raw' and new.result_type = 'any' and new.cache_version = 0
       and length(new.queue) <= 200 and coalesce(length(new.tag) <= 400, true)
       and num_nonnulls(
             new.parent_id, new.service, new.url, new.query, new.headers, new.body, new.body_json, new.body_form,
             new.body_parts, new.max_redirects, new.credential, new.ok_statuses, new.max_response, new.decode,
             new.use_envelope, new.validator, new.extract, new.require_data, new.download_to, new.sha256, new.rules,
             new.cache_ttl, new.cache_sensitive, new.paginate, new.backoff, new.argument_types, new.each,
             new.dedupe_key) = 0 then
      o := postrider_internal.planned_job(new.operation);
    end if;
    if o.operation_revision is not null
       and jsonb_path_match(coalesce(new.arguments, '{}'), o.argument_check, '{}', true)
       and coalesce(new.arguments, '{}') - o.argument_names = '{}'
       and (o.url_argument is null or postrider_internal.is_plain_segment(new.arguments ->> o.url_argument)) then
      if o.fill_places is not null then
        v_filled := postrider_internal.try_fill_arguments(o.fill_columns, o.fill_places, coalesce(new.arguments, '{}'));
      end if;
      if v_filled is not null or o.fill_places is null then
        return row(
          new.id, new.kind, new.parent_id, new.position, new.name,
          case when new.queue <> 'default' then new.queue else coalesce(o.queue, new.queue) end,
          coalesce(new.lane, o.lane, v_filled ->> 'lane'),
          case when new.priority <> 0 then new.priority else coalesce(o.priority, new.priority) end, new.run_at,
          new.expires_at, coalesce(new.timeout, o.timeout),
          case when new.max_attempts <> 5 then new.max_attempts else coalesce(o.max_attempts, new.max_attempts) end,
          o.backoff,
          case when new.delivery <> 'at_least_once' then new.delivery else coalesce(o.delivery, new.delivery) end,
          new.dedupe_key, case when new.on_duplicate <> 'error' then new.on_duplicate
                               else coalesce(o.on_duplicate, new.on_duplicate) end,
          new.operation, coalesce(new.arguments, '{}'), o.service, coalesce(o.method, new.method),
          coalesce(o.url, o.url_start || (new.arguments ->> o.url_argument) || o.url_end, v_filled ->> 'url'),
          coalesce(o.use_cdn, new.use_cdn),
          coalesce(o.query || (coalesce(new.arguments, '{}') - o.query_leaves), o.query, v_filled -> 'query'),
          coalesce(o.headers, v_filled -> 'headers'), o.body,
          coalesce(o.body_json || (coalesce(new.arguments, '{}') - o.body_json_leaves), o.body_json,
                   v_filled -> 'body_json'),
          coalesce(o.body_form || (coalesce(new.arguments, '{}') - o.body_form_leaves), o.body_form,
                   v_filled -> 'body_form'),
          new.body_parts, o.max_redirects, o.credential, coalesce(o.login_required, new.login_required),
          coalesce(o.response_format, new.response_format), o.ok_statuses, o.max_response, o.decode, o.use_envelope,
          o.validator, o.extract, coalesce(o.result_type, new.result_type), o.require_data, o.download_to, o.sha256,
          new.rules, o.cache_ttl, coalesce(o.cache_version, new.cache_version),
          coalesce(o.cache_sensitive, v_filled ->> 'cache_sensitive'), coalesce(o.ignore_cache, new.ignore_cache),
          o.paginate, new.mode, new.max_parallel, new.each, new.run_if, coalesce(new.on_success, o.on_success),
          coalesce(new.on_failure, o.on_failure), coalesce(new.callback_url, o.callback_url),
          case when new.notify then new.notify else coalesce(o.notify, new.notify) end, new.traceparent, new.tracestate,
          coalesce(new.tag, o.tag, v_filled ->> 'tag'), coalesce(new.metadata, o.metadata, v_filled -> 'metadata'),
          new.created_at, new.created_by, o.operation_revision, o.operation_rules, new.argument_types)::postrider.jobs;
      end if;
    end if;
    if new.kind <> 'request' and current_setting('postrider.inherits', true) is distinct from 'off' then
      perform postrider_internal.raise_column_error(
        'jobs', 'operation', 'cannot be given with a batch or chain', 'Use postrider.call or postrider.submit.');
    end if;
    begin
      new := postrider_internal.apply_operation(new);
    exception when sqlstate 'PR001' then
      new.operation_revision := null;
      return new;
    end;
  end if;
  if length(new.tag) > 400 or length(new.queue) > 200 then
    perform postrider_internal.refuse_bad_job(new);
  end if;
  if new.parent_id is not null
     and (new.operation is not null or current_setting('postrider.inherits', true) is distinct from 'off') then
    new := postrider_internal.inherit_from_parent(new);
  end if;
  if new.method <> upper(new.method collate "C") then
    new.method := upper(new.method collate "C");
  end if;
  if new.each is not null then
    new.each := postrider_internal.each_times(new.each, new.parent_id);
  end if;
  if new.dedupe_key is null or new.queue is null or new.on_duplicate in ('error', 'skip') is not true
    or length(new.dedupe_key) not between 1 and 1000 then
    return new;
  end if;
  v_holder := postrider_internal.take_dedupe_key(new.queue, new.dedupe_key, new.id);
  if v_holder is null then
    return new;
  end if;
  perform postrider_internal.refuse_duplicate(new, v_holder);
  return null;
end
$$;
comment on function postrider_internal.check_new_job() is
  'row trigger of jobs: checks dedupe_key, tag and queue, copies values from the parent, normalizes each and method';

create or replace trigger jobs_row
  before insert on postrider.jobs for each row when (
    new.dedupe_key is not null or new.operation is not null or new.each is not null
    or length(new.tag) > 400 or length(new.queue) > 200
    or new.parent_id is not null and current_setting('postrider.inherits', true) is distinct from 'off'
    or new.method <> upper(new.method collate "C")) execute function postrider_internal.check_new_job();
