-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Claims at most p_limit rows of p_tracks, in this order. p_caps is the most rows of each track, and p_marks its
-- watermark, behind which the claim starts.
--
-- Watermark: this worker has already claimed the rows before it. Without it, each claim walks over all leased rows.
-- While an old transaction pins the vacuum horizon, the claim also walks over all dead rows. Measured after 300,000
-- jobs: 17-22 % of the rate is left without the watermark, 90-114 % with it. survey() finds rows that were committed
-- late, below the watermark.
--
-- Advisory lock: reap() takes it exclusively before it declares a worker lost. So no claim can lease rows after reap()
-- has read the leases. The lock lives in shared memory and ends with the transaction.
--
-- synchronous_commit: if a crash of the server loses a claim, the claim never happened and its job runs again. So the
-- commit need not wait for the disk, if p_has_no_finish (no finish in the transaction) and no job is at_most_once.
--
-- JIT is off here and wherever a plan walks these tables. The estimate of the generic plan grows with the queue. Above
-- 100,000 rows PostgreSQL compiled each claim anew (with 120,000 ready rows: 1.9 s instead of 7 ms).
--
-- The claim itself checks pauses and limits, so a claim that begins after the commit of a pause takes nothing from that
-- lane. The worker names a lane with limits in p_lanes (0: none) and then keeps its limits. The claim skips a limited
-- lane that the worker does not name. While there are pauses or limits, rows of a removed track wait until they have a
-- track again.
--
-- One check finds out whether there are pauses or limits. If not, their tables are not in the plan. In a session that
-- has been idle, each table named by a plan costs 10 µs of the 0.1 ms for a claim of one row.
--
-- LIMIT pulls the nested loop lazily, so the claim locks only the rows it returns. Lock order: (track, seq).
--
-- A body of more than 64 KiB stays in the database until the worker has room for it. In this case large_body is its
-- size as sent, is_rich is true, and prepare returns the body. -1: the body may be large, but p_leases_only skips the
-- check.
--
-- p_leases_only: every job has is_rich = true, and the claim reads no query, headers or body. If a body is too large
-- for a value, a normal claim fails for all its jobs. With p_leases_only, prepare fails for that job alone.
create or replace function postrider_internal.claim(
  p_worker int, p_above bigint, p_limit int, p_tracks int[], p_caps int[], p_marks bigint[], p_has_no_finish boolean,
  p_lanes int[], p_leases_only boolean default false)
returns table (
  track int, seq bigint, fence bigint, job_id bigint, attempt int, at_most_once boolean, rekey smallint,
  method text, url text, query text[], headers text[], body_kind "char", body bytea, form text[],
  timeout_ms int, max_response bigint, ok_statuses int[], is_rich boolean, is_member boolean,
  has_callbacks boolean, large_body bigint, waited interval)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_enlisted boolean;
  v_has_holds boolean;
  v_has_hooks boolean;
  v_has_start_hooks boolean := false;
  v_fence bigint;
  v_commit text := current_setting('synchronous_commit');
begin
  -- Behind PgBouncer this session may lead to a restored database that no worker has found yet. Another worker may have
  -- the same number there.
  v_is_enlisted := current_setting('postrider.identified', true) = ('postrider_internal.workers'::regclass::oid)::text;
  if v_is_enlisted is not true then
    v_is_enlisted := postrider_internal.is_identified();
  end if;
  -- Two steps, because the row must be read after the lock is taken.
  if v_is_enlisted then
    v_is_enlisted := pg_try_advisory_xact_lock_shared(1886351474, p_worker);
  end if;
  if v_is_enlisted then
    select exists (select from postrider_internal.workers w where w.id = p_worker and w.ended_at is null),
           exists (select from postrider.lanes n where n.paused_until > now())
           or exists (select from postrider.lanes n where n.max_in_flight is not null or n.rate_limit is not null)
           or exists (select from postrider.queues q where q.paused)
           or exists (select from postrider_internal.lane_pauses),
           exists (select from postrider.hooks)
      into v_is_enlisted, v_has_holds, v_has_hooks;
  end if;
  if not v_is_enlisted then
    raise exception using errcode = 'PR008', message = format('worker %s has been declared lost', p_worker),
      hint = 'Register again; the leases of this worker are void.';
  end if;
  if v_has_holds then
    select array_agg(u.track order by u.place), array_agg(u.cap order by u.place), array_agg(u.mark order by u.place)
      into p_tracks, p_caps, p_marks
      from unnest(p_tracks, p_caps, p_marks, p_lanes) with ordinality as u(track, cap, mark, lane, place)
     where exists (
             select from postrider_internal.tracks t
              where t.id = u.track
                and not (exists (select from postrider.lanes n
                                  where n.name = t.lane
                                    and (n.paused_until > now()
                                         or (n.max_in_flight is not null or n.rate_limit is not null)
                                           and n.id <> u.lane))
                         or exists (select from postrider_internal.lane_pauses p
                                    where p.lane = t.lane and p.until > now())
                         or exists (select from postrider.queues q where q.name = t.queue and q.paused)));
  end if;
  if v_has_hooks then
    v_has_start_hooks := exists (select from postrider.hooks h where h.event = 'will_start');
  end if;
  if p_has_no_finish then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  v_fence := nextval('postrider_internal.fences');
  if v_fence <= p_above then
    -- After a crash of the server a sequence may fall back to a value before the ones it gave out last.
    v_fence := p_above + 1;
    perform setval('postrider_internal.fences', v_fence);
  end if;
  return query
  with picked as materialized (
    select r.spot, l.place
      from unnest(p_tracks, p_caps, p_marks) with ordinality as l(track, cap, mark, place)
     cross join lateral (
           select c.ctid as spot
             from postrider_internal.ready c
            where c.track = l.track and c.seq > l.mark and c.worker = 0
              and (c.expires_at is null or c.expires_at > now())
            order by c.track, c.seq
            limit l.cap
              for update skip locked) r
     limit p_limit),
  taken as (
    update postrider_internal.ready r
       set worker = p_worker, fence = v_fence, attempt = r.attempt + 1, since = now()
      from picked p
     where r.ctid = p.spot
    returning r.track, r.seq, r.fence, r.job_id, r.attempt, r.at_most_once, r.rekey, r.parent_id, r.has_callbacks)
  select t.track, t.seq, t.fence, t.job_id, t.attempt,
         t.at_most_once and set_config('synchronous_commit', v_commit, true) is not null, t.rekey,
         j.method, j.url,
         case when j.query is not null and not p_leases_only then postrider_internal.pairs(j.query) end,
         case when not p_leases_only then postrider_internal.claimed_headers(j) end,
         case when j.body is not null then 'b' when j.body_json is not null then 'j'
              when j.body_form is not null then 'f' else 'n' end::"char",
         case when p_leases_only or l.bytes is not null then null when j.body is not null then j.body else w.json end,
         case when j.body_form is not null and not p_leases_only and l.bytes is null
           then postrider_internal.form_pairs(j.body_form) end,
         case when not p_leases_only then postrider_internal.milliseconds(j.timeout) end, j.max_response,
         case when j.ok_statuses is not null and not p_leases_only
           then postrider_internal.status_bounds(j.ok_statuses) end,
         p_leases_only or l.bytes is not null or postrider_internal.has_preparation(j) or v_has_start_hooks
           or w.is_filled, t.parent_id is not null, t.has_callbacks or v_has_hooks, l.bytes,
         now() - greatest(j.run_at, j.created_at)
    from taken t join postrider.jobs j on j.id = any (array[t.job_id])
   cross join lateral (
         select case when t.parent_id is not null
                  then exists (select from postrider_internal.filled_templates d where d.job_id = t.job_id)
                    else false end as is_filled,
                case when j.body_json is not null and not p_leases_only and pg_column_size(j.body_json) <= 16384
                  then convert_to(j.body_json::text, 'UTF8') end as json
         offset 0) w
   cross join lateral (
         select case when p_leases_only then case
                       when w.is_filled then -1 else postrider_internal.unread_body_bytes(j.body,
                           coalesce(j.body_json, j.body_form, j.body_parts)) end
                     when w.is_filled then postrider_internal.filled_body_bytes(t.job_id)
                     else postrider_internal.large_body_bytes(j.body, j.body_json, w.json, j.body_form,
                                                              j.body_parts) end as bytes
         offset 0) l;
end
$$;
comment on function postrider_internal.claim(int, bigint, int, int[], int[], bigint[], boolean, int[], boolean) is
  'leases up to p_limit ready jobs of the given tracks and returns the data for their calls; fences are above p_above';
