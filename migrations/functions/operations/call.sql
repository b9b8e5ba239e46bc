-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.call(
  operation text, arguments jsonb default '{}', priority int default null, queue text default null,
  lane text default null, run_at timestamptz default null, expires_at timestamptz default null,
  dedupe_key text default null, on_duplicate text default null, tag text default null, metadata jsonb default null,
  credential text default null) returns bigint
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform postrider_internal.raise_null_argument('operation', operation is null,
                                                 'Give the name of an operation; see select name from postrider.operations.');
  return postrider.submit(
    jsonb_strip_nulls(jsonb_build_object(
      'operation', operation, 'priority', priority, 'queue', queue, 'lane', lane, 'run_at', run_at,
      'expires_at', expires_at, 'dedupe_key', dedupe_key, 'on_duplicate', on_duplicate, 'tag', tag,
      'credential', credential))
    || jsonb_build_object('arguments', coalesce(arguments, '{}'))
    || case when metadata is null then '{}' else jsonb_build_object('metadata', metadata) end);
end
$$;
comment on function postrider.call(
  text, jsonb, int, text, text, timestamptz, timestamptz, text, text, text, jsonb, text) is
  'inserts the job of an operation; returns its id, or null if on_duplicate skip left it out';
