-- SPDX-License-Identifier: Apache-2.0
-- What: indexes for lists of jobs by state and by queue.
-- Why:  job_status walks from the newest job back until enough of a state have been met, which is long when they are few.
-- Cost: an entry for each job that does not succeed, and for each job outside the queue default.

create index results_ends on postrider.results (state, job_id) where state <> 's';
create index jobs_queue on postrider.jobs (queue, id) where queue <> 'default';
