-- SPDX-License-Identifier: Apache-2.0
-- What: a tally counts what one finish did in all its tracks and states. Headers and arguments of a service are put
--       together from its columns, not from its whole row.
-- Why:  a finish over 64 lanes wrote 64 rows for its 64 jobs, and the leader took as many away. A row of 30 columns was
--       built twice for each job with a service.
-- Cost: writes what was not folded yet anew, a second's worth while a worker runs; tallies is locked meanwhile.

-- It reads the columns, and is made anew after this.
drop view if exists postrider.queue_status;

alter table postrider.tallies
  alter track type int[] using array[track],
  alter state type "char"[] using array[state],
  alter jobs type int[] using array[jobs];
alter table postrider.tallies rename track to tracks;
alter table postrider.tallies rename state to states;
comment on table postrider.tallies is
  'private: what each finish did, until the leader folds it into totals: how many jobs (negative: taken back) in which track and state';

drop function if exists postrider.call_query(jsonb, text, postrider.services);
drop function if exists postrider.call_headers(jsonb, text, postrider.services);

-- An INSERT over a thousand lanes leaves lists by the thousand.
create index intake_turn on postrider.intake (priority desc, first_id, id);
-- An argument has another name and meaning.
drop function if exists postrider.feed_next(int, bigint, int);
