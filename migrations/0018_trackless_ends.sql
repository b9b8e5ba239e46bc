-- SPDX-License-Identifier: Apache-2.0
-- What: ends of jobs that never had a track (skipped steps, members cancelled while they waited) are told with their queue.
-- Why:  queue_status did not count them.
-- Cost: a null column for tallies; no rewrite.

alter table postrider.tallies add column queue text;
comment on column postrider.tallies.queue is 'of jobs without a track (track 0); null: the queues of the tracks';
