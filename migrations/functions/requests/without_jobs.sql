-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.without_jobs(
  p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[], p_gone bigint[],
  out track int[], out seq bigint[], out fence bigint[], out job bigint[])
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(x.track), array_agg(x.seq), array_agg(x.fence), array_agg(x.job)
    from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
   where x.job <> all (p_gone)
$$;
comment on function postrider_internal.without_jobs(int[], bigint[], bigint[], bigint[], bigint[]) is
  'leases without those of some jobs; nulls: none is left';
