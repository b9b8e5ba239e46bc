-- SPDX-License-Identifier: Apache-2.0
-- Rows that are being claimed, finished or cancelled this very moment are skipped, not waited for; they are counted as
-- remaining, and the next round finds them ended or takes them.
create or replace function postrider.end_below(
  p_tree bigint, p_state "char", out released int, out ended int, out remaining int)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
  v_cancelled constant text := format('cancelled: job %s, of which it is a part, has ended', p_tree);
  v_code constant text := case when p_state = 'c' then 'cancelled' end;
  v_error constant text := case p_state when 'c' then v_cancelled
                                        else format('skipped: chain %s ended before its turn came', p_tree) end;
  v_ids bigint[];
  v_job record;
  v_tree postrider.trees;
  v_state "char";
  v_aborts int := 0;
begin
  released := 0;
  ended := 0;

  -- What waits for its turn.
  with held as materialized (
    select m.ctid as spot from postrider.members m where m.parent_id = p_tree and m.is_waiting for update skip locked),
  freed as (
    update postrider.members m set is_waiting = false from held h where m.ctid = h.spot returning m.job_id)
  select array_agg(f.job_id) into v_ids from freed f;
  if v_ids is not null then
    released := cardinality(v_ids);
    for v_job in
      select j.id, postrider.job_is_followed(j) as is_followed from postrider.jobs j
       where j.id = any (v_ids) and j.kind = 'request'
    loop
      perform postrider.end_job(v_job.id, p_state, v_code, v_error, case when v_job.is_followed then p_tree end, v_job.is_followed);
      ended := ended + (not v_job.is_followed)::int;
    end loop;
  end if;

  -- What was let go.
  select array_agg(m.job_id) into v_ids
    from postrider.members m
   where m.parent_id = p_tree and not m.is_waiting
     and not exists (select from postrider.results r where r.job_id = m.job_id)
     and not exists (select from postrider.outcomes o where o.job_id = m.job_id);
  if v_ids is not null then
    for v_job in
      with places as materialized (
        select p.spot from unnest(v_ids) as u(id) cross join lateral postrider.ready_place(u.id) p),
      held as materialized (
        select r.ctid as spot from postrider.ready r
         where r.ctid = any (array(select p.spot from places p)) and r.job_id = any (v_ids)
           for update skip locked),
      gone as (
        delete from postrider.ready r using held h where r.ctid = h.spot returning r.*),
      told as (
        insert into postrider.aborts (worker, fence, job_id)
        select g.worker, g.fence, g.job_id from gone g where g.worker > 0),
      planned as materialized (
        select s.ctid as spot from postrider.scheduled s where s.job_id = any (v_ids) for update skip locked),
      dropped as (
        delete from postrider.scheduled s using planned p where s.ctid = p.spot returning s.*)
      select g.job_id, g.worker, g.fence, g.attempt, g.track, g.rekey, g.at_most_once, g.since, g.is_followed from gone g
      union all
      select d.job_id, 0, 0, d.attempt, d.track, d.rekey, d.at_most_once, null, d.is_followed from dropped d
    loop
      perform postrider.end_job(
        v_job.job_id, case when v_job.worker > 0 and v_job.at_most_once then 'u' else 'c' end::"char", 'cancelled',
        case when v_job.worker > 0 and v_job.at_most_once
             then 'cancelled while it was running; it is not known whether the server acted on it' else v_cancelled end,
        case when v_job.is_followed then p_tree end, v_job.is_followed, v_job.track, v_job.attempt, v_job.rekey,
        case when v_job.worker > 0 then v_job.since end, v_job.fence, v_job.worker);
      ended := ended + (not v_job.is_followed)::int;
      v_aborts := v_aborts + (v_job.worker > 0)::int;
    end loop;
    if v_aborts > 0 then
      perform pg_notify('postrider', 'abort');
    end if;
    for v_tree in
      select t.* from postrider.trees t where t.job_id = any (v_ids) and t.state in ('w', 'o') for update skip locked
    loop
      if v_tree.state = 'w' then
        v_state := postrider.end_tree(v_tree, p_state, v_code, v_error, true);
      else
        v_state := postrider.end_tree(v_tree, 'c', 'cancelled', v_cancelled, true);
      end if;
      ended := ended + (v_state is not null)::int;
    end loop;
  end if;

  select count(*) into remaining
    from postrider.members m
   where m.parent_id = p_tree
     and not exists (select from postrider.results r where r.job_id = m.job_id)
     and not exists (select from postrider.outcomes o where o.job_id = m.job_id);
end
$$;
comment on function postrider.end_below(bigint, "char") is
  'private: ends what has not ended in a batch or chain that has: cancelled, or skipped (p_state k) what never began; how many waited, how many ended here and are to be counted, and how many remain';
