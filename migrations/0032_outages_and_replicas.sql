-- SPDX-License-Identifier: Apache-2.0
-- What: since when each worker's heartbeats have come without a gap; what a replica of ready knows its rows by.
-- Why:  who comes back first after an outage has not seen that the others are silent: it was away itself. And `create publication …
--       for all tables` made each claim fail, since ready has no primary key.
-- Cost: the catalog alone. The index is the one that ready has: unique, whole, its columns not null, and no claim changes them, so
--       nothing more is written, with `wal_level = logical` neither, but for the key in the entry of a DELETE.

alter table postrider.workers add column steady_since timestamptz not null default now();
comment on column postrider.workers.steady_since is 'no two heartbeats since then were more than 5 s apart';

alter table postrider.ready replica identity using index ready_track;
