-- SPDX-License-Identifier: Apache-2.0
-- What: an ended worker keeps the places of its leases whose rows somebody has locked.
-- Why:  reap looks again each second for what it could not take, and would look through all of ready.
-- Cost: two null columns; no rewrite. Where they are null, reap looks through ready once and fills them.
-- breaking: no

alter table postrider.workers add column locked_tracks int[], add column locked_seqs bigint[];
comment on column postrider.workers.locked_tracks is 'with locked_seqs: the places in ready of the leases that reap found locked';
comment on column postrider.workers.locked_seqs is 'null before reap has looked for the leases of an ended worker; as many as its in_flight then';
