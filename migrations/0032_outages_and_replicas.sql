-- SPDX-License-Identifier: Apache-2.0
-- What: what a replica of ready knows its rows by.
-- Why:  `create publication … for all tables` made each claim fail, since ready has no primary key.
-- Cost: the catalog alone. The index is the one that ready has: unique, whole, its columns not null, and no claim changes them, so
--       nothing more is written, with `wal_level = logical` neither, but for the key in the entry of a DELETE.

alter table postrider.ready replica identity using index ready_track;
