-- SPDX-License-Identifier: Apache-2.0
-- Each range covers a quarter of the ids that are kept, at least a million. With a retention there are about seven
-- ranges, without one about 30 for a billion jobs. Ids skipped between two ranges do not count. If ids passed all
-- ranges long ago, there may be no range left: then columns are null.
create or replace function postrider_internal.ids_ahead(
  out last_id bigint, out top bigint, out size bigint, out ahead bigint, out reach bigint, out next_id bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.last_value, max(r.end_id),
         greatest(1000000, sum(greatest(0,
                                        least(r.end_id, s.last_value + 1) - coalesce(r.first_id,
                                            1)))::bigint / 4000000 * 1000000),
         coalesce(sum(greatest(0, r.end_id - greatest(coalesce(r.first_id, 1), s.last_value + 1))), 0)::bigint,
         max(r.end_id) filter (where coalesce(r.first_id, 1) <= s.last_value + 1),
         min(r.first_id) filter (where r.first_id > s.last_value + 1)
    from postrider.jobs_id_seq s
    left join postrider_internal.job_ranges() r on r.end_id is not null
   group by s.last_value
$$;
comment on function postrider_internal.ids_ahead() is
  'last id, end of all ranges (top), size of a new range, free ids, end of the current range (reach), next start';
