-- SPDX-License-Identifier: Apache-2.0
-- What: a mark in outcomes for what the end of a batch or chain has ended.
-- Why:  such a member has not failed, and is not counted so. Whether the batch was over when the member was told said too
--       little: a person may have cancelled the member in the moment in which another one's success ended the batch.
-- Cost: none; rows there are those of jobs that end this moment.

alter table postrider.outcomes add column is_swept boolean not null default false;
