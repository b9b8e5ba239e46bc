-- SPDX-License-Identifier: Apache-2.0
-- What: a moment before which a delta of a batch or chain is not added up.
-- Why:  a batch that a client's open transaction holds up, one that joins it at the place of its next element, is tried again later.
--       All other batches and chains go on meanwhile.
-- Cost: a null column; no rewrite.

alter table postrider.tree_deltas add column due_at timestamptz;
comment on column postrider.tree_deltas.due_at is 'not added up before; null: at once';
