-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into queue_new_jobs, because it returns a set and is declared stable.
--
-- While rows wait on track 0, a track added within the last second is not known yet to rows that are due. A row
-- inserted while the track was added has not been moved yet, and later rows would overtake it.
--
-- Only such a new track asks for rows on track 0. A session may have planned this question while ready was empty. Then
-- it reads all of ready, dead rows too: 7 ms after 35 s of 3,000 jobs a second under an open transaction.
create or replace function postrider_internal.known_track(p_queue text, p_lane text, p_priority smallint,
                                                          p_is_due boolean) returns setof int
language sql stable parallel safe
as $$
  select t.id from postrider_internal.tracks t
   where t.queue = p_queue and t.lane = p_lane and t.priority = p_priority
     and not (p_is_due and t.made_at between clock_timestamp() - interval '1 s'
                               and clock_timestamp() + interval '1 min'
              and (select exists (select from postrider_internal.ready r where r.track = 0)))
   limit 1
$$;
comment on function postrider_internal.known_track(text, text, smallint, boolean) is
  'the track of a queue, lane and priority that new jobs may go to at once; no row: they go to track 0';
