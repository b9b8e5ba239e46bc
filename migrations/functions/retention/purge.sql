-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.purge(before timestamptz) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_range record;
  v_span record;
  v_after bigint;
  v_jobs bigint := 0;
begin
  perform postrider_internal.raise_null_argument('before', purge.before is null,
                                                 'Give a time, like now() - interval ''30 days''.');
  for v_range in select r.part from postrider_internal.job_ranges() r loop
    v_after := 0;
    while v_after is not null loop
      select s.reached, s.pruned into v_span
        from postrider_internal.prune_span(v_range.part, v_after, 5000, purge.before, purge.before) s;
      v_after := v_span.reached;
      v_jobs := v_jobs + v_span.pruned;
    end loop;
  end loop;
  return v_jobs;
end
$$;
comment on function postrider.purge(timestamptz) is
  'deletes all jobs that ended before this time, with results and attempts; batches and chains only as a whole; '
  'returns how many';
