-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
create or replace function postrider_internal.fail_misconfigured_jobs(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
begin
  select array_agg(x.track order by x.track, x.seq) as tracks, array_agg(x.seq order by x.track, x.seq) as seqs,
         array_agg(x.fence order by x.track, x.seq) as fences, array_agg(x.job order by x.track, x.seq) as jobs,
         array_agg(case
           when s.name is null then format('service %s no longer exists; insert it again and retry the job',
                                           j.service)
           else format('the job''s URL is relative, but service %s has no base_url or server for this worker''s environment; set one and retry the job', j.service)
         end order by x.track, x.seq) as errors
    into v_bad
    from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
    join postrider.jobs j on j.id = any (array[x.job])
    left join postrider.services s on s.name = j.service
   where j.service is not null
     and (s.name is null
          or case when j.use_cdn then coalesce(s.cdn_url, s.base_url) else s.base_url end is null
             and not postrider_internal.url_is_absolute(j.url)
             and not exists (
                   select from postrider_internal.server_routes t join postrider_internal.workers w on w.id = p_worker
                    where t.service = j.service and t.environment = w.environment));
  if v_bad.jobs is null then
    return '{}';
  end if;
  perform postrider_internal.fail_claimed_jobs(p_worker, v_bad.tracks, v_bad.seqs, v_bad.fences, 'config',
                                               v_bad.errors);
  return v_bad.jobs;
end
$$;
comment on function postrider_internal.fail_misconfigured_jobs(int, int[], bigint[], bigint[], bigint[]) is
  'fails claimed jobs whose service is missing or has no base URL with error_code config; returns their ids';
