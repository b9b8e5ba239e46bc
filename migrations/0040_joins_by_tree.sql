-- SPDX-License-Identifier: Apache-2.0
-- What: an index of the deltas that tell of new members, by their batch or chain.
-- Why:  job_status counts a member from its commit on, and not from when a worker has added it up.
-- Cost: an entry for each INSERT that adds members to a batch or chain that is there already; ends have none.
-- breaking: no

create index tree_deltas_joins on postrider.tree_deltas (tree_id) where added > 0;
