-- SPDX-License-Identifier: Apache-2.0
-- Lists are of one id up to 64,000: a turn takes about p_jobs ids, and at least one list.
create or replace function postrider.feed_next(p_worker int, p_epoch bigint, p_jobs int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_lists bigint[];
  v_next bigint[];
  v_held bigint[] := '{}';
begin
  if not postrider.leads(p_worker, p_epoch) then
    return 0;
  end if;
  loop
    select array_agg(n.id) into v_next
      from (select i.id, sum(i.jobs) over (order by i.priority desc, i.first_id, i.id) - i.jobs as before
              from (select x.id, x.priority, x.first_id, x.jobs from postrider.intake x
                     where x.id <> all (v_held)
                     order by x.priority desc, x.first_id, x.id limit 2000) i) n
     where n.before < p_jobs;
    if v_next is null then
      return 0;
    end if;
    select array_agg(i.id) into v_lists
      from (select x.id from postrider.intake x where x.id = any (v_next) for update skip locked) i;
    exit when v_lists is not null;
    -- Somebody's open transaction has cancelled jobs of all these. Those that come after them do not wait for its end.
    v_held := v_held || v_next;
  end loop;
  perform postrider.add_tracks(array_agg(i.queue), array_agg(i.lane), array_agg(i.priority::int))
     from postrider.intake i where i.id = any (v_lists);
  return postrider.feed(v_lists);
end
$$;
comment on function postrider.feed_next(int, bigint, int) is
  'private: leader: feeds the next intake lists, highest priority first, of about p_jobs jobs together; how many jobs';
