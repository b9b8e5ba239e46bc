-- SPDX-License-Identifier: Apache-2.0
-- What: an index of the jobs that are members, by their batch or chain.
-- Why:  what job_status says of the members of a large batch began with a walk over all jobs.
-- Cost: an entry for each member; building it reads jobs once.
-- breaking: no

create index jobs_parent on postrider.jobs (parent_id, id) where parent_id is not null;
