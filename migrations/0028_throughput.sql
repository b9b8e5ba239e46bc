-- SPDX-License-Identifier: Apache-2.0
-- What: how long jobs waited and how long their calls took, minute by minute, for the view throughput.
-- Why:  each finish names one job of each track and outcome in the row of tallies that it writes anyway, and the leader looks up a
--       few hundred of these a second. So the hot path pays a maximum of what it has at hand.
-- Cost: a null column for tallies; no rewrite.

alter table postrider.tallies add column samples bigint[];
comment on column postrider.tallies.samples is 'for each of jobs, one of them: its times stand for all of them; null: none is looked at';

create table postrider.timings (
  minute timestamptz not null,
  kind "char" not null,                    -- w waits, from being due to the start of the first attempt · c calls that ended their job
  bucket smallint not null,                -- four times the logarithm to base 2 of the microseconds
  jobs bigint not null,
  primary key (minute, kind, bucket)
) with (fillfactor = 50);
comment on table postrider.timings is 'private: a sample of waits and calls of the last hour by minute and length';
