-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- prepare calls this while any service has servers. It reads the servers of a service once for the batch. An absolute
-- URL and a call to the CDN have no server. p_done: jobs that make no call.
--
-- A probe is a real call. Jobs that may be repeated are preferred for it. An at_most_once job may end as unknown, and a
-- download may take hours. Such a job probes only if no other job came within a further cool_down.
create or replace function postrider_internal.pick_servers(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[], p_done bigint[],
  out server int[], out base text[], out goes_on boolean[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_environment text := (select w.environment from postrider_internal.workers w where w.id = p_worker);
  v_service text;
  v_routes postrider_internal.server_routes[];
  v_due postrider_internal.server_routes[];
  v_choice record;
  v_usual record;
begin
  server := array_fill(null::int, array[cardinality(p_job)]);
  base := array_fill(null::text, array[cardinality(p_job)]);
  goes_on := array_fill(false, array[cardinality(p_job)]);
  for v in
    select x.place, x.track, x.seq, x.fence, j.service, r.tried, r.at_most_once
      or j.download_to is not null as is_delicate, s.cool_down
      from unnest(p_track, p_seq, p_fence, p_job) with ordinality as x(track, seq, fence, job, place)
      join postrider.jobs j on j.id = any (array[x.job])
      join postrider.services s on s.name = j.service
     cross join lateral (
           select r.tried, r.at_most_once from postrider_internal.ready r
            where r.track = x.track and r.seq = x.seq and r.fence = x.fence and r.worker = p_worker offset 0) r
     where x.job <> all (p_done) and not postrider_internal.url_is_absolute(j.url)
       and not (j.use_cdn and s.cdn_url is not null)
       and exists (select from postrider_internal.server_routes t
                   where t.service = j.service and t.environment = v_environment)
     order by j.service, r.at_most_once or j.download_to is not null, j.method in ('POST', 'PATCH'), x.place
  loop
    if v.service is distinct from v_service then
      v_service := v.service;
      v_routes := postrider_internal.routes_of(v_service, v_environment);
      select * into v_usual from postrider_internal.choose_server(v_routes, null);
      v_due := array(
        select row(t.*)::postrider_internal.server_routes from unnest(v_routes) t
         where t.state <> 'active' and t.open_until <= clock_timestamp());
    end if;
    v_choice := v_usual;
    if v.tried is not null then
      select * into v_choice from postrider_internal.choose_server(v_routes, v.tried);
    end if;
    if cardinality(v_due) > 0 and (v_due[1]).id = any (v.tried) is not true
       and (not v.is_delicate or (v_due[1]).open_until <= clock_timestamp() - v.cool_down) then
      if postrider_internal.begin_probe((v_due[1]).id, v.track, v.seq, v.fence) then
        v_choice.goes_on := (v_choice.route).state = 'active' and (v_choice.route).id = any (v.tried) is not true;
        v_choice.route := v_due[1];
      end if;
      v_due := v_due[2:];
    end if;
    server[v.place] := (v_choice.route).id;
    base[v.place] := (v_choice.route).base_url;
    goes_on[v.place] := v_choice.goes_on;
  end loop;
end
$$;
comment on function postrider_internal.pick_servers(int, int[], bigint[], bigint[], bigint[], bigint[]) is
  'for each claimed job: id and base_url of its server (nulls: none), and whether its attempt can go on at another';
