-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Handles claimed jobs that use the cache. If an entry serves a job, the job ends here without a call. If another job
-- is already fetching the same answer, the job waits for it (join_cache_flight). The others are recorded in
-- cache_flights and called.
--
-- A cached answer is checked against the job like one from the network, because a validator may have been added since.
-- An answer does not serve if the job does not accept its status or length (is_fit_cache_entry) or its content. Then
-- the server is called. The judging session also removes the entry, because otherwise the job would return here before
-- its call.
--
-- If judging the cached answer may be expensive, the job is neither ended nor called here, unless p_judges. p_judges:
-- this is the judging session. p_error: such a job fails with too_expensive and this sentence.
--
-- Bodies over 64 kB are read one by one, because an array of all may be too large for one value.
create or replace function postrider_internal.cache_serve(
  p_worker int, p_app_version text, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[],
  p_judges boolean default false, p_error text default null, out done bigint[], out expensive bigint[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_answer record;
  v_attempt postrider_internal.finished_attempt;
  v_is_large boolean;
  v_served postrider_internal.finished_attempt[] := '{}';
begin
  done := '{}';
  expensive := '{}';
  with x as materialized (
    select x.track, x.seq, x.fence, x.job, coalesce(j.service, '') as service,
           b.base, case when s.cache_mode = 'http' then postrider_internal.variant_key(b.base, j, s)
             else b.base end as key,
           j.method, j.ignore_cache, j.cache_ttl, j.cache_version, j.cache_sensitive, s.stale_if_error,
           j.response_format, j.ok_statuses, coalesce(j.max_response, s.max_response) as max_response,
           coalesce(s.cache_mode = 'http', false) as is_http,
           u.envelope is not null or j.response_format <> 'raw' or j.validator is not null or j.extract is not null
             or j.result_type <> 'any' or j.require_data is true as is_judged,
           case when num_nonnulls(j.validator, j.extract, u.envelope) > 0
                then not postrider_internal.judges_cheaply(j, u.envelope) else false end as is_expensive,
           s.cache_mode = 'http' and j.headers is not null and postrider_internal.wants_fresh(
             case when j.parent_id is not null then (postrider_internal.filled_job(j)).headers
               else j.headers end) as wants_fresh,
           -- A job that sends its own conditional headers gets the server's own answer.
           case when num_nonnulls(j.headers, s.headers) > 0 then
             lower(concat(j.headers, s.headers) collate "C")
                ~ '"if-(none-match|modified-since|match|unmodified-since|range)"'
           else false end as asks_itself
      from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
      join postrider.jobs j on j.id = any (array[x.job])
      left join postrider.services s on s.name = j.service
     cross join lateral (select postrider_internal.used_envelope(j.use_envelope, s.envelope) as envelope) u
     cross join lateral (
           select case when s.has_servers
             then postrider_internal.filled_key(j, postrider_internal.keyed_service(s, p_worker))
                       when j.parent_id is not null then postrider_internal.filled_key(j, s)
                       else postrider_internal.cache_key(j, s) end as base
           offset 0) b
     where j.cache_ttl is not null
           -- fail_misconfigured_jobs fails the other jobs later.
       and (j.service is null
            or s.name is not null
               and (case when j.use_cdn then coalesce(s.cdn_url, s.base_url) else s.base_url end is not null
                    or postrider_internal.url_is_absolute(j.url)
                    or s.has_servers and exists (
                         select from postrider_internal.server_routes t
                           join postrider_internal.workers w on w.id = p_worker
                          where t.service = s.name and t.environment = w.environment)))
     order by x.track, x.seq),
  looked as (
    select x.*, case
             when x.ignore_cache then 'miss'
             when e.status between 100 and 599
                  and not postrider_internal.is_fit_cache_entry(
                        e.status::int, octet_length(e.body), e.is_xml, x.ok_statuses, x.max_response, x.response_format)
                          then 'miss'
             when x.wants_fresh and e.key is not null then 'cache_expired'
             -- A call failed within the last second, and the stale answer served its job. It serves this job at once.
             when e.failed_at between c.now - interval '1 s' and c.now
                   and not e.is_strict and postrider_internal.cache_reason(
               e, c.now, c.ttl + x.stale_if_error, x.cache_version, x.cache_sensitive, p_app_version) = 'hit'
                 then 'stale'
             else postrider_internal.cache_reason(e, c.now, c.ttl, x.cache_version, x.cache_sensitive, p_app_version)
           end as reason,
           e.status, e.headers as answered, e.encoding, e.created_at, e.etag, e.last_modified,
           -- An entry of another version or of another user is not revalidated, because a 304 would serve it.
           e.version = x.cache_version and e.sensitive is not distinct from x.cache_sensitive
             and e.app_version is not distinct from p_app_version as is_own,
           e.last_used < now() - interval '1 min' as is_to_touch,
           case when e.bytes <= 65536 then e.body end as body, e.bytes
      from x
      left join postrider.cache_entries e on e.key = any (array[x.key])
     cross join lateral (
           select clock_timestamp() as now,
                  case when x.is_http then least(x.cache_ttl, coalesce(e.fresh, interval '0'))
                    else x.cache_ttl end as ttl
           offset 0) c
     where x.key is not null),
  marked as (
    select l.*, l.reason in ('hit', 'stale') as serves, l.reason = 'cache_expired' and l.is_own
             -- With other methods the server answers a failed If-None-Match with 412 (RFC 9110 section 13.1.2).
             and l.method in ('GET', 'HEAD') and not l.asks_itself as is_conditional from looked l)
  select array_agg(row(
             h.track, h.seq, h.fence, h.job, 's', h.status, null, null, h.answered, h.body, null,
             null, null, null, null, null, null, null, null, null, null,
             null, null, null, null, null, null, null, null,
             h.reason, h.encoding, null)::postrider_internal.finished_attempt) filter (where h.serves) as served,
         array_agg(h.job) filter (where h.serves) as job, array_agg(h.reason) filter (where h.serves) as reason,
         array_agg(h.base) filter (where h.serves) as base, array_agg(h.key) filter (where h.serves) as key,
         array_agg(h.created_at) filter (where h.serves) as created_at,
         array_agg(h.is_judged or h.body is null) filter (where h.serves) as is_special,
         array_agg(h.is_expensive or h.is_judged and h.bytes > 1048576) filter (where h.serves) as is_expensive,
         array_agg(h.service) filter (where h.serves) as service,
         array_agg(h.key) filter (where h.serves and h.is_to_touch) as touched,
         array_agg(h.track) filter (where not h.serves) as miss_track,
         array_agg(h.seq) filter (where not h.serves) as miss_seq,
         array_agg(h.fence) filter (where not h.serves) as miss_fence,
         array_agg(h.job) filter (where not h.serves) as miss_job,
         array_agg(h.base) filter (where not h.serves) as miss_base,
         array_agg(h.key) filter (where not h.serves) as miss_key,
         array_agg(h.reason) filter (where not h.serves) as miss_reason,
         array_agg(not h.ignore_cache) filter (where not h.serves) as miss_joins,
         array_agg(case when h.is_conditional then h.etag end) filter (where not h.serves) as miss_etag,
         array_agg(case when h.is_conditional then h.last_modified end) filter (where not h.serves) as miss_modified
    into v
    from marked h;

  if v.job is not null then
    if true = any (v.is_special) then
      for i in 1 .. cardinality(v.job) loop
        v_attempt := v.served[i];
        if not v.is_special[i] then
          done := done || v.job[i];
          v_served := v_served || v_attempt;
          continue;
        end if;
        if v.is_expensive[i] and not p_judges then
          expensive := expensive || v.job[i];
          continue;
        end if;
        v_is_large := v_attempt.body is null;
        if v_is_large then
          -- The entry may have been replaced since. Then the job is called.
          select e.body into v_attempt.body from postrider.cache_entries e
            where e.key = v.key[i] and e.created_at = v.created_at[i];
        end if;
        v_answer := null;
        select a.* into v_answer
          from postrider.jobs j
          left join postrider.services s on s.name = j.service
         cross join lateral postrider_internal.judge_answer(j, s, v_attempt.status::int, v_attempt.headers,
                                                            v_attempt.body) a
         where j.id = v.job[i] and v_attempt.body is not null and p_error is null;
        if p_error is not null and v_attempt.body is not null then
          select 'f'::"char" as verdict, 'too_expensive' as code, p_error as error, null::jsonb as result,
                 null as encoding into v_answer;
        end if;
        -- An answer may fail for this job although it was a success for the job that stored it, like HTML that counts
        -- as a 502.
        if v_answer.verdict is distinct from 's' and v_answer.code is distinct from 'too_expensive' then
          if p_judges then
            perform postrider_internal.delete_free_cache_entries(array[v.key[i]], false);
          end if;
          v.miss_track := v.miss_track || v_attempt.track;
          v.miss_seq := v.miss_seq || v_attempt.seq;
          v.miss_fence := v.miss_fence || v_attempt.fence;
          v.miss_job := v.miss_job || v.job[i];
          v.miss_base := v.miss_base || v.base[i];
          v.miss_key := v.miss_key || v.key[i];
          v.miss_reason := v.miss_reason || case when v_answer.code <> 'http_status' then 'cache_data' else 'miss' end;
          v.miss_joins := v.miss_joins || true;
          v.miss_etag := v.miss_etag || null::text;
          v.miss_modified := v.miss_modified || null::text;
          continue;
        end if;
        done := done || v.job[i];
        v_attempt.verdict := v_answer.verdict;
        v_attempt.code := v_answer.code;
        v_attempt.error := v_answer.error;
        v_attempt.encoding := coalesce(v_answer.encoding, v_attempt.encoding);
        v_attempt.result := v_answer.result;
        if v_is_large then
          perform postrider_internal.finish_unreported(p_worker, array[v_attempt]);
        else
          v_served := v_served || v_attempt;
        end if;
      end loop;
    else
      v_served := v.served;
      done := v.job;
    end if;
    perform postrider_internal.finish_unreported(p_worker, v_served);
    insert into postrider_internal.cache_deltas (service, outcome, jobs)
    select o.service, o.reason, count(*)
      from unnest(v.service, v.reason, v.job) as o(service, reason, job)
     where o.job = any (done)
     group by 1, 2;
    if v.touched is not null then
      update postrider.cache_entries e set last_used = clock_timestamp()
       where e.ctid = any (array(
               select t.ctid from postrider.cache_entries t
                 where t.key = any (v.touched) for no key update skip locked));
    end if;
  end if;

  if v.miss_job is not null then
    done := done || postrider_internal.join_cache_flight(
      p_worker, v.miss_track, v.miss_seq, v.miss_fence, v.miss_job, v.miss_base, v.miss_key, v.miss_reason,
      v.miss_joins,
      v.miss_etag, v.miss_modified, p_app_version);
  end if;
end
$$;
comment on function postrider_internal.cache_serve(int, text, int[], bigint[], bigint[], bigint[], boolean, text) is
  'ends claimed jobs that the cache can serve, and lets others wait for the same call; returns done and expensive jobs';
