-- SPDX-License-Identifier: Apache-2.0
-- What: a batch over a long list keeps how far it has come with making its members.
-- Why:  10,000 members in one transaction held up all that the leader does beside it, past the end of its lease.
-- Cost: a column without a default; trees is locked for a moment.

alter table postrider.trees add column expanded int;   -- elements of each that have their members; null: all, or none yet
