-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Chooses the prepared answers of claimed jobs whose service has a stub. These jobs need no login, cache or server. A
-- job without a fitting stub fails here, so no test reaches a real server by mistake.
--
-- p_gone: jobs to leave alone. p_stubs_only: the worker makes no real call, so all other jobs fail, too.
create or replace function postrider_internal.take_stubs(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[], p_gone bigint[],
  p_stubs_only boolean, out jobs bigint[], out fences bigint[], out answers jsonb[], out ended bigint[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
begin
  select array_agg(x.job) filter (where c.answer is not null) as jobs,
         array_agg(x.fence) filter (where c.answer is not null) as fences,
         array_agg(c.answer) filter (where c.answer is not null) as answers,
         array_agg(x.job order by x.track, x.seq) filter (where c.answer is null) as bad,
         array_agg(x.track order by x.track, x.seq) filter (where c.answer is null) as bad_tracks,
         array_agg(x.seq order by x.track, x.seq) filter (where c.answer is null) as bad_seqs,
         array_agg(x.fence order by x.track, x.seq) filter (where c.answer is null) as bad_fences,
         array_agg(case
           when j.service is null
             then 'this worker makes no real calls (--stubs-only), and the job has no service with a stub'
           when s.stub is null then format(
             'this worker makes no real calls (--stubs-only), and service %s has no stub', j.service)
           when j.download_to is not null then format(
             'service %s has a stub, and a stub cannot write the file of download_to; remove services.stub', j.service)
           else format('no stub of service %s fits %s %s; add one to services.stub and retry the job', j.service,
                       j.method, coalesce(c.path, 'to another origin')) end
           order by x.track, x.seq) filter (where c.answer is null) as errors
    into v
    from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
    join postrider.jobs j on j.id = any (array[x.job])
    left join postrider.services s on s.name = j.service
    left join lateral (
         select f.url, case when j.paginate is null then f.query else g.query end as query, g.url as page_url
           from postrider_internal.filled_job(j) f
           left join lateral postrider_internal.page_call(case when j.paginate is not null then f end) g on true
          where s.stub is not null) f on true
    left join lateral (
         select a.path, (
                select e.value from jsonb_array_elements(s.stub) with ordinality e (value, place)
                 where j.download_to is null
                   and postrider_internal.stub_fits(e.value -> 'match', upper(j.method), a.path, a.query)
                 order by e.place limit 1) as answer
           from postrider_internal.stub_call(coalesce(f.page_url, f.url), postrider_internal.pairs(f.query), j.use_cdn,
                                             s) a
          where s.stub is not null) c on true
   where (s.stub is not null or p_stubs_only) and x.job <> all (p_gone);
  jobs := coalesce(v.jobs, '{}');
  fences := v.fences;
  answers := v.answers;
  ended := coalesce(v.bad, '{}');
  if jobs <> '{}' then
    insert into postrider_internal.attempt_notes (job_id, fence, from_stub)
    select n.job, n.fence, true from unnest(v.jobs, v.fences) as n(job, fence)
        on conflict do nothing;
  end if;
  if ended <> '{}' then
    perform postrider_internal.fail_claimed_jobs(p_worker, v.bad_tracks, v.bad_seqs, v.bad_fences, 'config', v.errors);
  end if;
end
$$;
comment on function postrider_internal.take_stubs(int, int[], bigint[], bigint[], bigint[], bigint[],
                                                boolean) is
  'the jobs that a stub answers with their answers, and the jobs that it ended because no stub fits';
